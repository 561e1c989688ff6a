"""Dropping the capabilities of the user root, which characters do not need."""

from __future__ import annotations

import platform
import struct
from typing import TYPE_CHECKING

from callboard_host.kernel import memory, prctl, syscall

if TYPE_CHECKING:
    from collections.abc import Iterable

# SYS_MODULE, SYS_RAWIO, SYS_PTRACE, SYS_ADMIN, PERFMON and BPF: each gives access to the memory of other processes.
READ_MEMORY = (16, 17, 19, 21, 38, 39)
ALL = range(64)

_PR_CAPBSET_DROP = 24
_VERSION = 0x20080522
# The numbers of capget and capset, by machine.
_CALLS = {"x86_64": (125, 126), "aarch64": (90, 91)}
# Effective, permitted and inheritable: capabilities 0 to 31, then the others.
_SETS = struct.Struct("<6I")


def drop_capabilities(dropped: Iterable[int]) -> bool:
    """Gives up capabilities for good: no program that is run has them either. False if the kernel refuses."""
    get, put = _CALLS.get(platform.machine(), (-1, -1))
    header, data = struct.pack("<Ii", _VERSION, 0), memory(bytes(_SETS.size))
    if syscall(get, header, data) < 0:
        return False
    kept = list(_SETS.unpack(data.raw))
    for capability in dropped:
        # Needs a capability itself, which is dropped last; without it there is nothing to drop.
        prctl(_PR_CAPBSET_DROP, capability)
        for place in range(3):
            kept[place + 3 * (capability // 32)] &= ~(1 << capability % 32)
    return syscall(put, header, _SETS.pack(*kept)) == 0
