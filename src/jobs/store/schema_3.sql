-- What a job has used, over all of its attempts.
ALTER TABLE jobs ADD COLUMN used TEXT NOT NULL DEFAULT '{}';
ALTER TABLE jobs ADD COLUMN worked_ms INTEGER NOT NULL DEFAULT 0;
-- The server that took the job.
ALTER TABLE jobs ADD COLUMN owner TEXT;

-- Servers that work with this store; one that is not seen any more leaves its queue to the others.
CREATE TABLE servers (
    id         TEXT PRIMARY KEY,
    process    INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    seen_until INTEGER NOT NULL
) STRICT;
