-- An owner's conversations are listed newest first.
CREATE INDEX conversations_by_owner ON conversations (owner, created_at, id);
