"""Locks down a run's process before it receives code: user, files, memory, processes and system calls."""

from __future__ import annotations

import ctypes
import math
import os
import resource
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias

from reference_node.sandbox.limits import MIB, Limits

if TYPE_CHECKING:
    from pyseccomp import SyscallFilter  # type: ignore[import-untyped]

NOBODY = 65534
PR_SET_PDEATHSIG = 1
PROT_EXEC = 4

CONNECTION = 0
"""The only descriptor that a run keeps: its connection to the node."""

SLACK_BYTES = 32 * MIB
"""Address space besides the engine's memory, for copies of code, parameters and response."""

ALLOWED = (
    # the connection
    *("read", "write", "recvfrom", "sendto", "poll", "ppoll"),
    # memory
    *("munmap", "brk", "mremap", "madvise"),
    # time, random numbers, the process's own use of memory, the end
    *("clock_gettime", "clock_nanosleep", "nanosleep", "getrandom", "getrusage", "futex", "exit", "exit_group"),
)
"""The allowed system calls; any other kills the process. `mmap` and `mprotect` are allowed without `PROT_EXEC`."""

Bounds: TypeAlias = Mapping[int, int]
"""Resource limits, by their number in the kernel."""

_libc = ctypes.CDLL(None, use_errno=True)


class Filter(Protocol):
    """A system-call filter that can be loaded into this process."""

    def load(self) -> None:
        """Load the filter. It can't be removed."""


class NoSeccomp(Exception):  # noqa: N818 - a fact about the machine
    """The message says why there is no filter."""


def build_filter() -> Filter:
    """The filter, made by libseccomp for this machine's architecture, and tried out. Raises `NoSeccomp`."""
    try:
        made: Filter = allow_list()
    except (ImportError, RuntimeError, OSError) as fault:
        raise NoSeccomp(f"libseccomp can't be loaded ({fault})") from None
    _try_out(made)
    return made


def allow_list() -> SyscallFilter:
    """The system calls of `ALLOWED`, and memory that no code runs in; everything else kills the process."""
    import pyseccomp  # noqa: PLC0415 - fails where libseccomp is missing

    made = pyseccomp.SyscallFilter(pyseccomp.KILL_PROCESS)
    for name in ALLOWED:
        made.add_rule(pyseccomp.ALLOW, name)
    for name in ("mmap", "mprotect"):
        made.add_rule(pyseccomp.ALLOW, name, pyseccomp.Arg(2, pyseccomp.MASKED_EQ, PROT_EXEC, 0))
    return made


def _try_out(made: Filter) -> None:
    """Load the filter in a process that only ends."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            made.load()
            status = 0
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        raise NoSeccomp("the kernel takes no seccomp filter")


def drop_rights(parent: int) -> None:
    """Switch to nobody if this process is root, and die with the parent, even if it has died already."""
    if os.getuid() == 0:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    if _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0):  # after the change of user, which clears it
        raise OSError(ctypes.get_errno(), "prctl")
    if os.getppid() != parent:
        os._exit(0)


def resource_bounds(limits: Limits) -> Bounds:
    """No new descriptor, file or process; so much processor time, and address space beyond this process's."""
    pages = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[0])
    return {
        resource.RLIMIT_AS: pages * resource.getpagesize() + limits.memory_bytes + SLACK_BYTES,
        resource.RLIMIT_CPU: math.ceil(limits.wall_seconds) + 1,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NPROC: 0,
        resource.RLIMIT_NOFILE: CONNECTION + 1,  # poll refuses to wait for more descriptors than this
    }


@dataclass(frozen=True)
class Lockdown:
    """The restrictions for every run, prepared once before the first fork."""

    bounds: Bounds
    lock: Filter | None
    """None only if the operator accepts a missing seccomp."""

    def put_on(self) -> None:
        """Restrict this process to computing and its connection."""
        for kind, bound in self.bounds.items():
            resource.setrlimit(kind, (bound, bound))
        if self.lock is not None:
            self.lock.load()


def rehearse(lockdown: Lockdown) -> str | None:
    """Lock down a test process; return the reason if that fails, else None."""
    reading, writing = os.pipe()
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        try:
            drop_rights(parent)
            lockdown.put_on()
        except Exception as fault:  # noqa: BLE001 - reported to the parent
            os.write(writing, str(fault).encode())
            os._exit(1)
        os._exit(0)
    os.close(writing)
    with open(reading, "rb") as pipe:  # noqa: PTH123 - a descriptor
        failure = pipe.read().decode()
    _, status = os.waitpid(child, 0)
    if os.waitstatus_to_exitcode(status) == 0:
        return None
    return f"a process can't be locked down here: {failure or 'it is killed'}"
