"""The first code that the interpreter runs: reads the host's modules from standard input and runs them."""

import json
import os
import struct
import sys
import types


def read_exactly(length: int) -> bytes:
    data = b""
    while len(data) < length:
        chunk = os.read(0, length - len(data))
        if not chunk:
            sys.exit("the channel closed before the host was read")
        data += chunk
    return data


def boot() -> None:
    sys.path[:] = [entry for entry in sys.path if entry]
    message = json.loads(read_exactly(struct.unpack("<I", read_exactly(4))[0]))
    package = types.ModuleType("callboard_host")
    package.__path__ = []
    sys.modules[package.__name__] = package
    for name, source in message["modules"]:
        module = types.ModuleType("callboard_host." + name)
        module.__file__ = "<callboard>/" + name + ".py"
        sys.modules[module.__name__] = module
        setattr(package, name, module)
        exec(compile(source, module.__file__, "exec"), module.__dict__)
    sys.modules["callboard_host.root_process"].run(message["parent"], message["limits"], message["sandbox"])


boot()
