-- The version of the conversation when the lease was taken: when a turn is written the version grows, and the lease is over without
-- being given back.
ALTER TABLE turn_leases ADD COLUMN version BIGINT NOT NULL DEFAULT 9223372036854775807;
