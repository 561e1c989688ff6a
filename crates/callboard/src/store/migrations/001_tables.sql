-- All tables. The same text runs on SQLite and on PostgreSQL; words in braces differ and are filled in.
-- Times are milliseconds since 1970. Bodies are JSON text, kept letter by letter.

CREATE TABLE conversations (
    id TEXT PRIMARY KEY,
    played_by TEXT NOT NULL,
    owner TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    metadata TEXT NOT NULL,
    -- Grows with every turn that is written: a turn that began at another version is refused.
    version BIGINT NOT NULL,
    next_position BIGINT NOT NULL,
    next_sequence BIGINT NOT NULL
);
CREATE INDEX conversations_by_time ON conversations (updated_at);

CREATE TABLE items (
    conversation_id TEXT NOT NULL,
    position BIGINT NOT NULL,
    id TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (conversation_id, position)
);

-- What a conversation began with. Written once, so that a change of state need not write the prompt again.
CREATE TABLE openings (
    conversation_id TEXT PRIMARY KEY,
    body TEXT NOT NULL
);

CREATE TABLE states (
    conversation_id TEXT PRIMARY KEY,
    body TEXT NOT NULL
);

CREATE TABLE journal (
    conversation_id TEXT NOT NULL,
    sequence BIGINT NOT NULL,
    undone_by BIGINT,
    body TEXT NOT NULL,
    PRIMARY KEY (conversation_id, sequence)
);

-- Which process runs a turn of which conversation. A lease that is not renewed expires, so a crash blocks no one for long.
CREATE {unlogged} TABLE turn_leases (
    conversation_id TEXT PRIMARY KEY,
    instance TEXT NOT NULL,
    token TEXT NOT NULL,
    expires_at BIGINT NOT NULL
);

CREATE TABLE responses (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    conversation_id TEXT,
    previous_id TEXT,
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    body TEXT NOT NULL,
    input TEXT NOT NULL
);
CREATE INDEX responses_by_time ON responses (created_at);

-- Histories of Chat Completions: a chain is a growing list of messages, a snapshot is a place in one.
CREATE TABLE chain_parts (
    chain TEXT NOT NULL,
    part BIGINT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (chain, part)
);

CREATE TABLE snapshots (
    history TEXT PRIMARY KEY,
    chain TEXT NOT NULL,
    parts BIGINT NOT NULL,
    state TEXT,
    interrupted TEXT,
    kept_at BIGINT NOT NULL
);
CREATE INDEX snapshots_by_time ON snapshots (kept_at);
CREATE INDEX snapshots_by_chain ON snapshots (chain);

CREATE TABLE named_snapshots (
    name TEXT PRIMARY KEY,
    history TEXT NOT NULL,
    kept_at BIGINT NOT NULL
);
CREATE INDEX named_snapshots_by_time ON named_snapshots (kept_at);

CREATE TABLE traces (
    id TEXT PRIMARY KEY,
    conversation_id TEXT,
    created_at BIGINT NOT NULL,
    body TEXT NOT NULL
);
CREATE INDEX traces_by_time ON traces (created_at);

-- Counted things by day, for figures over a long time. One count is spread over several rows, so that turns which count the
-- same thing at the same time do not wait for each other.
CREATE TABLE counts (
    shard BIGINT NOT NULL,
    day BIGINT NOT NULL,
    played_by TEXT NOT NULL,
    model TEXT NOT NULL,
    name TEXT NOT NULL,
    amount BIGINT NOT NULL,
    PRIMARY KEY (day, played_by, model, name, shard)
);
