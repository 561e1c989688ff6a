"""The page docs/faults.md: what is written there, and the record of the clients alone that is read from it."""
from pathlib import Path

from fault_cases import NOT_MET, WORKS
from faults import FAULTS

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "faults.md"
CLIENTS = {"cline": "Cline", "opencode": "opencode", "codex": "codex", "python-whole": "Python SDK",
           "python-streamed": "Python SDK, streamed", "node-whole": "Node SDK", "node-streamed": "Node SDK, streamed"}

HEAD = """# Faults of model servers

What real clients make of {faults} faults of model servers: alone, with the client's base URL set to the faulty server, and with
Callboard in between. The clients are the released programs: Cline, opencode, codex, and OpenAI's own SDKs for Python and Node.
The faults are those that users of model servers have reported; [the contract](contract.md) tells how Callboard deals with each.

In each case the model has to call a tool, read its result and answer. An agent's tool is its shell, which has to append a text
with quotes, tabs, newlines and backslashes to a file; an SDK's tool is a function with an argument of every type. A case works
if the tool did exactly that, once, the client's last words contain what only the tool's result tells, and the client reports no
failure.

## Results

<!-- This page is written by tests/clients/fault_page.py. -->

| | {columns} |
|---|{rules}|
| faults that the client meets | {met} |
| alone, of these | {alone} |
| through Callboard, of these | {through} |

Through Callboard every case works, also those that a client alone does not meet. In the table below are the clients alone:

| word | meaning |
|---|---|
| works | as above, because the client tolerates the fault or corrects the model |
| no call | the client ended as if all were well, and no call was made |
| wrong call | the tool ran with other arguments, twice, or only one of two did |
| no answer | the tool ran as it should, and the final answer never came |
| error | the client ended with an error |
| hangs | no end within {seconds} seconds |
| – | the client does not meet the fault: it never sends what is refused, or does not read that part of a reply |

"Until the model hears of it" is a model that makes the mistake once, and the right call if it is told.

## Alone
"""

TAIL = """
## How it is run

`tests/clients/run target/debug/callboard faults` runs the half through Callboard, with every fault on a model server of its own;
it is a part of `scripts/test`. `tests/clients/run target/debug/callboard faults-alone` runs the clients alone. That takes some
minutes, because clients that hang take their time, and is a part of `scripts/test --long` only: this page is its record, for the
versions pinned in [package.json](../tests/clients/package.json) and [requirements.txt](../tests/clients/requirements.txt). Both
compare what they see with this page; with `UPDATE=1` before them they write it. The faults are in
[faults.py](../tests/clients/faults.py), the server that has them in [fault_server.py](../tests/clients/fault_server.py).

- codex speaks only the Responses API, so alone it meets the faults in that form. Callboard asks the server for Chat Completions
  in all cases.
- The server refuses a history that a chat template could not render: arguments that are no JSON object, a call without an id, a
  result without its call.
- The SDKs check arguments with their own helpers, `pydantic_function_tool` and `zodFunction`. Node's tool runner tells the model
  about bad arguments and unknown tools, as agents do; the loop around the Python SDK does not. Retries are left as they come.
- A fault of the first reply alone (an error, a broken connection) is retried by the client: Callboard makes it a status that
  clients retry, as long as nothing of the reply has reached them.
"""
SECONDS_ALONE = 40


def read_record() -> dict:
    """The outcomes of the clients alone, by (client, fault), as they are on the page."""
    rows = {fault.about: fault.name for fault in FAULTS}
    record = {}
    lines = PAGE.read_text(encoding="utf-8").splitlines() if PAGE.exists() else []
    for line in lines:
        about, *cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if about in rows and len(cells) == len(CLIENTS):
            record.update({(client, rows[about]): cell.strip("*") for client, cell in zip(CLIENTS, cells)})
    return record


def row(first, cells):
    return f"| {first} | " + " | ".join(cells) + " |"


def table(record):
    """One table for each group of faults."""
    group = None
    for fault in FAULTS:
        if fault.group != group:
            group = fault.group
            yield ""
            yield row(group, CLIENTS.values())
            yield "|---|" + "---|" * len(CLIENTS)
        outcomes = [record.get((client, fault.name), "") for client in CLIENTS]
        yield row(fault.about, [cell if cell in (WORKS, NOT_MET, "") else f"**{cell}**" for cell in outcomes])


def count(record, client, *wanted):
    return str(sum(record.get((client, fault.name)) in wanted for fault in FAULTS))


def met(record, client):
    return [fault.name for fault in FAULTS if record.get((client, fault.name), NOT_MET) != NOT_MET]


def page(record: dict) -> str:
    """That all cases work through Callboard is what the tests check, so it is not in the record."""
    def cells(text):
        return " | ".join(text(client) for client in CLIENTS)

    head = HEAD.format(
        faults=len(FAULTS), seconds=SECONDS_ALONE, columns=" | ".join(CLIENTS.values()), rules="|".join(["---"] * len(CLIENTS)),
        met=cells(lambda client: str(len(met(record, client)))), alone=cells(lambda client: count(record, client, WORKS)),
        through=cells(lambda client: str(len(met(record, client)))))
    return head + "\n".join(table(record)) + "\n" + TAIL
