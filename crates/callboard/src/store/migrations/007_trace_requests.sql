-- The id of a reply leads to its trace.
ALTER TABLE traces ADD COLUMN request_id TEXT;
CREATE INDEX traces_by_request ON traces (request_id);
