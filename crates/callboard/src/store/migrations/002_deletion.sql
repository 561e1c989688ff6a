-- What goes when a response or a conversation is deleted, what stays for those that build on it, and how large histories are.

-- A deleted response with followers stays, hidden, until the last of them is gone.
ALTER TABLE responses ADD COLUMN deleted_at BIGINT;
CREATE INDEX responses_by_previous ON responses (previous_id) WHERE previous_id IS NOT NULL;
CREATE INDEX responses_by_conversation ON responses (conversation_id) WHERE conversation_id IS NOT NULL;
CREATE INDEX responses_by_deletion ON responses (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX responses_by_expiry ON responses (expires_at) WHERE expires_at IS NOT NULL;

-- Bytes of the bodies of its items.
ALTER TABLE conversations ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0;
UPDATE conversations SET bytes =
    COALESCE((SELECT sum(octet_length(i.body)) FROM items i WHERE i.conversation_id = conversations.id), 0);

-- The response that it was kept with, and goes with; none in histories of Chat Completions.
ALTER TABLE snapshots ADD COLUMN response_id TEXT;
UPDATE snapshots SET response_id = substr(history, 1, 29)
    WHERE history LIKE 'resp!_%/%' ESCAPE '!' AND EXISTS (SELECT 1 FROM responses r WHERE r.id = substr(snapshots.history, 1, 29));
CREATE INDEX snapshots_by_response ON snapshots (response_id) WHERE response_id IS NOT NULL;
DROP INDEX snapshots_by_time;
CREATE INDEX snapshots_by_time ON snapshots (kept_at) WHERE response_id IS NULL;
-- The chain that it stood in before it was kept anew.
ALTER TABLE snapshots ADD COLUMN replaced TEXT;
-- Bytes of its parts.
ALTER TABLE snapshots ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0;
UPDATE snapshots SET bytes =
    COALESCE((SELECT sum(octet_length(p.body)) FROM chain_parts p WHERE p.chain = snapshots.chain AND p.part < snapshots.parts), 0);

DROP INDEX named_snapshots_by_time;
CREATE INDEX named_snapshots_by_history ON named_snapshots (history);

-- The conversation or the response whose words it holds; none where it holds none.
ALTER TABLE traces ADD COLUMN content_of TEXT;
CREATE INDEX traces_by_content ON traces (content_of) WHERE content_of IS NOT NULL;
