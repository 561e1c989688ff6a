-- The owner, the character and the client's own words behind the key of a name, so that the conversation is found by them everywhere.
ALTER TABLE named_snapshots ADD COLUMN owner TEXT;
ALTER TABLE named_snapshots ADD COLUMN character TEXT;
ALTER TABLE named_snapshots ADD COLUMN client_name TEXT;
CREATE INDEX named_snapshots_by_client_name ON named_snapshots (owner, client_name);
