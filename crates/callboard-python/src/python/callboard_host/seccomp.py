"""A seccomp filter: refuses the system calls that lead out of a process, for itself and all that it starts."""

from __future__ import annotations

import errno
import platform
import struct

from callboard_host.kernel import address, last_error, memory, prctl, require

_PR_SET_SECCOMP = 22
_FILTER = 2

# Refused calls that have the same number on every machine.
_EVERYWHERE = (
    "open_tree 428, move_mount 429, fsopen 430, fsconfig 431, fsmount 432, fspick 433, io_uring_setup 425, "
    "pidfd_getfd 438, mount_setattr 442, fchmodat2 452, setxattrat 463, removexattrat 466"
)
# The machine's number for audits, the calls whose arguments are inspected, and the refused ones.
_BY_MACHINE = {
    "x86_64": (
        0xC000003E,
        "clone 56, prctl 157",
        "socket 41, execve 59, execveat 322, ptrace 101, process_vm_readv 310, process_vm_writev 311, kcmp 312, "
        "bpf 321, perf_event_open 298, userfaultfd 323, add_key 248, request_key 249, keyctl 250, mount 165, "
        "umount2 166, pivot_root 155, chroot 161, unshare 272, setns 308, open_by_handle_at 304, "
        "chmod 90, fchmod 91, fchmodat 268, chown 92, fchown 93, lchown 94, fchownat 260, "
        "setxattr 188, lsetxattr 189, fsetxattr 190, removexattr 197, lremovexattr 198, fremovexattr 199",
    ),
    "aarch64": (
        0xC00000B7,
        "clone 220, prctl 167",
        "socket 198, execve 221, execveat 281, ptrace 117, process_vm_readv 270, process_vm_writev 271, kcmp 272, "
        "bpf 280, perf_event_open 241, userfaultfd 282, add_key 217, request_key 218, keyctl 219, mount 40, "
        "umount2 39, pivot_root 41, chroot 51, unshare 97, setns 268, open_by_handle_at 265, "
        "fchmod 52, fchmodat 53, fchownat 54, fchown 55, "
        "setxattr 5, lsetxattr 6, fsetxattr 7, removexattr 14, lremovexattr 15, fremovexattr 16",
    ),
}
_CLONE3 = 435
# Namespaces of its own, and a child that would not be a child of this process.
_CLONE_REFUSED = 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000 | 0x8000
_PR_SET_CHILD_SUBREAPER = 36
# Numbers of another calling convention on x86_64.
_X32 = 0x40000000

_INSTRUCTION = struct.Struct("<HBBI")
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _MACHINE, _FIRST_ARGUMENT, _SECOND_ARGUMENT = 0, 4, 16, 24
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000


# How many instructions, and where.
_PROGRAM = struct.Struct("@HP")


def is_available() -> bool:
    """Whether the kernel takes filters, and this machine's numbers are known."""
    if platform.machine() not in _BY_MACHINE:
        return False
    # A filter at no address: refused as such only where filters are known.
    return prctl(_PR_SET_SECCOMP, _FILTER, 0) < 0 and last_error() == errno.EFAULT


def refuse_calls() -> None:
    """Needs that no new privileges can be gained."""
    code = _filter()
    instructions = memory(code)
    program = _PROGRAM.pack(len(code) // _INSTRUCTION.size, address(instructions))
    require(prctl(_PR_SET_SECCOMP, _FILTER, program), "seccomp")


def _filter() -> bytes:
    machine, inspected, refused = _BY_MACHINE[platform.machine()]
    number = _numbers(inspected)
    code = [(_LOAD, 0, 0, _MACHINE), (_EQUAL, 1, 0, machine), (_RETURN, 0, 0, _KILL), (_LOAD, 0, 0, _NUMBER)]
    if platform.machine() == "x86_64":
        code += [(_AT_LEAST, 0, 1, _X32), _refusal(errno.ENOSYS)]
    # The C library falls back to clone, whose flags can be inspected.
    code += [(_EQUAL, 0, 1, _CLONE3), _refusal(errno.ENOSYS)]
    for refused_number in (*_numbers(refused).values(), *_numbers(_EVERYWHERE).values()):
        code += [(_EQUAL, 0, 1, refused_number), _refusal(errno.EACCES)]
    code += [
        (_EQUAL, 0, 4, number["clone"]),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        (_ANY_BIT, 0, 1, _CLONE_REFUSED),
        _refusal(errno.EACCES),
        (_RETURN, 0, 0, _ALLOW),
        (_EQUAL, 0, 5, number["prctl"]),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        (_EQUAL, 0, 3, _PR_SET_CHILD_SUBREAPER),
        (_LOAD, 0, 0, _SECOND_ARGUMENT),
        (_EQUAL, 0, 1, 0),
        _refusal(errno.EACCES),
        (_RETURN, 0, 0, _ALLOW),
    ]
    return b"".join(_INSTRUCTION.pack(*instruction) for instruction in code)


def _refusal(number: int) -> tuple[int, int, int, int]:
    return (_RETURN, 0, 0, _ERRNO | number)


def _numbers(text: str) -> dict[str, int]:
    words = (entry.split() for entry in text.split(", "))
    return {name: int(number) for name, number in words}
