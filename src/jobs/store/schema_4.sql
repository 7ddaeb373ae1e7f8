-- Sessions of web tasks: what they begin with. Their tasks are jobs, found by the session that these name.
CREATE TABLE sessions (
    id         TEXT PRIMARY KEY,
    body       TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;

CREATE INDEX sessions_newest ON sessions (created_at DESC, id);
CREATE INDEX jobs_of_session ON jobs (json_extract(spec, '$.web.session_id'), created_at DESC)
    WHERE json_extract(spec, '$.web.session_id') IS NOT NULL;

-- How far the webhook of a job is. A job that is over and has no row here has told nobody yet.
CREATE TABLE webhooks (
    job      TEXT PRIMARY KEY REFERENCES jobs (id) ON DELETE CASCADE,
    state    TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    next_at  INTEGER NOT NULL,
    problem  TEXT
) STRICT;

CREATE INDEX jobs_with_webhook ON jobs (finished_at) WHERE json_extract(spec, '$.web.webhook') IS NOT NULL;
