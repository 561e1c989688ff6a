-- The number of the turn that a name leads to, so that a delayed write of an earlier turn does not replace it.
ALTER TABLE named_snapshots ADD COLUMN turn BIGINT NOT NULL DEFAULT 0;
