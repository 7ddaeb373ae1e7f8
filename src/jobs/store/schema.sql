CREATE TABLE jobs (
    id              TEXT PRIMARY KEY,
    status          TEXT NOT NULL,
    wanted          TEXT NOT NULL DEFAULT 'run',
    priority        INTEGER NOT NULL DEFAULT 0,
    spec            TEXT NOT NULL,
    result          TEXT,
    error           TEXT,
    usage           TEXT NOT NULL DEFAULT '{}',
    cost_pico       INTEGER,
    steps           INTEGER NOT NULL DEFAULT 0,
    effects         INTEGER NOT NULL DEFAULT 0,
    attempts        INTEGER NOT NULL DEFAULT 0,
    epoch           INTEGER NOT NULL DEFAULT 0,
    worker          TEXT,
    lease_until     INTEGER NOT NULL DEFAULT 0,
    last_event      INTEGER NOT NULL DEFAULT 0,
    idempotency_key TEXT UNIQUE,
    created_at      INTEGER NOT NULL,
    started_at      INTEGER,
    finished_at     INTEGER
) STRICT;

CREATE INDEX jobs_waiting ON jobs (priority DESC, created_at, id) WHERE status = 'queued';
CREATE INDEX jobs_held ON jobs (lease_until) WHERE status IN ('running', 'paused', 'input_required');
CREATE INDEX jobs_newest ON jobs (created_at DESC, id);

CREATE TABLE events (
    job   TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    seq   INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    at    INTEGER NOT NULL,
    kind  TEXT NOT NULL,
    body  TEXT NOT NULL,
    PRIMARY KEY (job, seq)
) STRICT, WITHOUT ROWID;
