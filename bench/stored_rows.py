"""Stores of any size: the rows of one real conversation, copied under other ids directly in SQLite.

Copying real rows keeps this independent of what is in them; only the ids that link the tables are known here.
"""

import json
import sqlite3
import urllib.request
from pathlib import Path

TEMPLATE_TURNS = 2
# The column with the id of the conversation, by table: each copy gets its own.
CONVERSATION_TABLES = {
    "conversations": "id",
    "items": "conversation_id",
    "openings": "conversation_id",
    "states": "conversation_id",
}


def make_template(base: str) -> None:
    """A conversation with a few turns."""
    conversation = json.loads(post(base, "/v1/conversations", {}))["id"]
    for _ in range(TEMPLATE_TURNS):
        post(base, "/v1/responses", {"model": "short-text", "input": "Go on.", "conversation": conversation})


def post(base: str, path: str, body: dict) -> bytes:
    request = urllib.request.Request(base + path, json.dumps(body).encode(), {"content-type": "application/json"})
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=60) as reply:
        return reply.read()


def fill(store: Path, conversations: int) -> None:
    """Copies the oldest conversation, with its responses, until there are this many."""
    with sqlite3.connect(store, isolation_level=None) as database:
        database.execute("PRAGMA synchronous = OFF")
        database.execute("BEGIN")
        template, = database.execute("SELECT id FROM conversations ORDER BY created_at LIMIT 1").fetchone()
        present, = database.execute("SELECT count(*) FROM conversations").fetchone()
        database.execute("CREATE TEMP TABLE copies (number INTEGER PRIMARY KEY, name TEXT)")
        database.execute(
            "WITH RECURSIVE n(number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM n WHERE number < ?)"
            " INSERT INTO copies SELECT number, lower(hex(randomblob(12))) FROM n WHERE ? > 0",
            (conversations - present, conversations - present))
        for table, column in CONVERSATION_TABLES.items():
            copy(database, table, {column: "'conv_' || copies.name"}, column, template)
        links = {"id": "'resp_' || copies.name || rows.rowid", "conversation_id": "'conv_' || copies.name", "previous_id": "NULL"}
        copy(database, "responses", links, "conversation_id", template)
        database.execute("COMMIT")
    database.close()


def copy(database: sqlite3.Connection, table: str, replaced: dict[str, str], key: str, template: str) -> None:
    columns = [name for _, name, *_ in database.execute(f"PRAGMA table_info({table})")]
    values = ", ".join(replaced.get(column, f"rows.{column}") for column in columns)
    database.execute(f"INSERT INTO {table} ({', '.join(columns)}) SELECT {values} FROM copies, {table} AS rows"
                     f" WHERE rows.{key} = ?", (template,))
