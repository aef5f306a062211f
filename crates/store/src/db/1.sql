CREATE TABLE task (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    title TEXT NOT NULL,
    description TEXT,
    status TEXT NOT NULL,
    -- 0 is urgent, 3 is low.
    priority INTEGER NOT NULL,
    active_form TEXT,
    owner TEXT,
    reason TEXT,
    metadata TEXT NOT NULL,
    notes TEXT NOT NULL,
    -- The session whose plan the row mirrors.
    plan TEXT,
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL,
    version INTEGER NOT NULL
) STRICT;
CREATE INDEX task_by_status ON task (status, priority, id);
CREATE INDEX task_by_plan ON task (plan) WHERE plan IS NOT NULL;

-- `task` waits for `blocker`.
CREATE TABLE waits (
    task INTEGER NOT NULL REFERENCES task (id) ON DELETE CASCADE,
    blocker INTEGER NOT NULL REFERENCES task (id) ON DELETE CASCADE,
    PRIMARY KEY (task, blocker)
) STRICT, WITHOUT ROWID;
CREATE INDEX waits_by_blocker ON waits (blocker);

CREATE TABLE run (
    task INTEGER PRIMARY KEY REFERENCES task (id) ON DELETE CASCADE,
    prompt TEXT NOT NULL,
    session TEXT NOT NULL,
    stance TEXT NOT NULL,
    pid INTEGER,
    beat_ms INTEGER NOT NULL,
    stop_asked INTEGER NOT NULL,
    result TEXT
) STRICT;

CREATE TABLE plan (
    session TEXT PRIMARY KEY,
    explanation TEXT,
    steps TEXT NOT NULL
) STRICT;

CREATE TABLE todo (
    session TEXT PRIMARY KEY,
    items TEXT NOT NULL
) STRICT;
