-- The conversation that a history of Chat Completions belongs to, and how many items it had there.
ALTER TABLE snapshots ADD COLUMN conversation_id TEXT;
ALTER TABLE snapshots ADD COLUMN position BIGINT;
CREATE INDEX snapshots_by_conversation ON snapshots (conversation_id);
