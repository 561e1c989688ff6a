"""The first that the interpreter runs: reads the host's modules from the channel on standard input, and runs them."""

import json
import os
import struct
import sys
import types


def read_exactly(length):
    pieces = b""
    while len(pieces) < length:
        piece = os.read(0, length - len(pieces))
        if not piece:
            sys.exit("the channel closed before the host was read")
        pieces += piece
    return pieces


def boot():
    sys.path[:] = [entry for entry in sys.path if entry]
    order = json.loads(read_exactly(struct.unpack("<I", read_exactly(4))[0]))
    package = types.ModuleType("callboard_host")
    package.__path__ = []
    sys.modules[package.__name__] = package
    for name, source in order["modules"]:
        module = types.ModuleType("callboard_host." + name)
        module.__file__ = "<callboard>/" + name + ".py"
        sys.modules[module.__name__] = module
        setattr(package, name, module)
        exec(compile(source, module.__file__, "exec"), module.__dict__)
    package.root.run(order["settings"])


boot()
