#!/usr/bin/env python3
"""A proxy between clients and Callboard that records every byte for later checks.

    observer.py TARGET_URL FOLDER        prints `listening on http://127.0.0.1:PORT` when ready

Bytes are forwarded unparsed. Each connection is recorded in two files: N.asked and N.answered (see recordings.py).
Standard library only.
"""
import asyncio
import contextlib
import itertools
import sys
from pathlib import Path
from urllib.parse import urlsplit

TARGET, FOLDER = urlsplit(sys.argv[1]), Path(sys.argv[2])
AT_ONCE = 65536
numbers = itertools.count(1)


async def pass_on(source, sink, record):
    """Copies until EOF, and closes the sink. Bytes are recorded before they are forwarded.

    A sink that is closed for reading only, as a client's is after its request, still gets the rest. One that is gone ends the
    copying, and both connections with it.
    """
    with contextlib.suppress(OSError):
        while data := await source.read(AT_ONCE):
            record.write(data)
            record.flush()
            sink.write(data)
            await sink.drain()
    with contextlib.suppress(OSError):
        sink.write_eof()


async def connected(client_reads, client_writes):
    number = next(numbers)
    try:
        target_reads, target_writes = await asyncio.open_connection(TARGET.hostname, TARGET.port)
    except OSError:
        client_writes.close()
        return
    with open(FOLDER / f"{number}.asked", "wb") as asked, open(FOLDER / f"{number}.answered", "wb") as answered:
        await asyncio.gather(pass_on(client_reads, target_writes, asked), pass_on(target_reads, client_writes, answered))
    target_writes.close()
    client_writes.close()


async def main():
    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    print(f"listening on http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    asyncio.run(main())
