ALTER TABLE jobs ADD COLUMN run_dir TEXT;

-- Events are numbered across all jobs, for those who watch them all.
ALTER TABLE events ADD COLUMN number INTEGER NOT NULL DEFAULT 0;
CREATE INDEX events_numbered ON events (number);
CREATE TABLE event_numbers (last INTEGER NOT NULL) STRICT;
INSERT INTO event_numbers (last) VALUES (0);

CREATE TABLE questions (
    id         TEXT PRIMARY KEY,
    job        TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    shown      TEXT NOT NULL,
    asked_at   INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    -- 1 for yes, 0 for no.
    answer     INTEGER,
    closed     INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX questions_open ON questions (asked_at) WHERE closed = 0;

CREATE TABLE artifacts (
    job    TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    path   TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    bytes  INTEGER NOT NULL,
    PRIMARY KEY (job, path)
) STRICT, WITHOUT ROWID;
