-- What was found out about the models of model servers: capabilities, and quirks learned from refusals.
CREATE TABLE server_findings (
    upstream TEXT NOT NULL,
    model TEXT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    found_at BIGINT NOT NULL,
    version TEXT NOT NULL,
    PRIMARY KEY (upstream, model, kind, name)
);
