-- What came out of a response, apart from the rest of it: those that follow it read this and not what was asked for, which may be large
-- and is much the same in all of them. Responses of earlier versions have none, and hold it in their body.
ALTER TABLE responses ADD COLUMN output TEXT;
