-- Counts name the character as the program does. Of a conversation it was never stored: the character is in its opening.
ALTER TABLE counts RENAME COLUMN played_by TO character;
ALTER TABLE conversations DROP COLUMN played_by;
