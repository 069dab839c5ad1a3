"""What the kernel still does for a run: nothing beyond memory, time and its one connection."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import pyseccomp  # type: ignore[import-untyped]
import pytest

from reference_node.sandbox.lockdown import ALLOWED, allow_list

ANONYMOUS = 0x22
READ_WRITE_EXECUTE, READ_WRITE = 7, 3
AT_FDCWD = -100

FORBIDDEN: dict[str, tuple[str, list[int | str]]] = {
    "fork": ("clone", [17, 0, 0, 0, 0]),
    "fork anew": ("clone3", [0, 0]),
    "start a program": ("execve", ["/bin/true", 0, 0]),
    "start a program by descriptor": ("execveat", [AT_FDCWD, "/bin/true", 0, 0, 0]),
    "open a file": ("openat", [AT_FDCWD, "/etc/passwd", 0]),
    "open a file anew": ("openat2", [AT_FDCWD, "/etc/passwd", 0, 0]),
    "make a file in memory": ("memfd_create", ["m", 0]),
    "open a socket": ("socket", [2, 1, 0]),
    "open a pair of sockets": ("socketpair", [1, 1, 0, 0]),
    "connect": ("connect", [0, 0, 0]),
    "send descriptors": ("sendmsg", [0, 0, 0]),
    "receive descriptors": ("recvmsg", [0, 0, 0]),
    "copy a descriptor": ("dup", [0]),
    "control a descriptor": ("ioctl", [0, 0, 0]),
    "alter a descriptor": ("fcntl", [0, 0, 0]),
    "watch a process": ("ptrace", [16, 1, 0, 0]),
    "read a process": ("process_vm_readv", [1, 0, 0, 0, 0, 0]),
    "kill": ("kill", [-1, 9]),
    "kill a thread": ("tgkill", [1, 1, 9]),
    "kill by handle": ("pidfd_send_signal", [0, 9, 0, 0]),
    "take another's descriptor": ("pidfd_getfd", [0, 0, 0]),
    "become somebody": ("setresuid", [0, 0, 0]),
    "raise a limit": ("prlimit64", [0, 7, 0, 0]),
    "alter the process": ("prctl", [4, 1, 0, 0, 0]),
    "undo the filter": ("seccomp", [0, 0, 0]),
    "make a name space": ("unshare", [0x10000000]),
    "mount": ("mount", ["none", "/", "tmpfs", 0, 0]),
    "load a kernel module": ("init_module", [0, 0, 0]),
    "load a kernel program": ("bpf", [0, 0, 0]),
    "queue work for the kernel": ("io_uring_setup", [1, 0]),
    "handle page faults": ("userfaultfd", [0]),
    "count events": ("perf_event_open", [0, 0, 0, 0, 0]),
    "use the keyring": ("add_key", ["user", "k", 0, 0, -1]),
    "look at files": ("newfstatat", [AT_FDCWD, "/", 0, 0]),
    "remove a file": ("unlinkat", [AT_FDCWD, "/x", 0]),
    "share memory": ("shmget", [0, 4096, 0o600]),
    "send messages": ("msgget", [0, 0o600]),
    "set an alarm": ("setitimer", [0, 0, 0]),
    "handle signals": ("rt_sigaction", [14, 0, 0, 8]),
    "run in a new mapping": ("mmap", [0, 4096, READ_WRITE_EXECUTE, ANONYMOUS, -1, 0]),
    "run in an old mapping": ("mprotect", [0, 4096, READ_WRITE_EXECUTE]),
    "run in a keyed mapping": ("pkey_mprotect", [0, 4096, READ_WRITE_EXECUTE, 0]),
    "choose a personality": ("personality", [0x0400000]),
}
HARMLESS: dict[str, tuple[str, list[int | str]]] = {
    "map memory": ("mmap", [0, 4096, READ_WRITE, ANONYMOUS, -1, 0]),
    "read the clock": ("clock_gettime", [1, 0]),
    "draw random numbers": ("getrandom", [0, 0, 0]),
}


@pytest.fixture(scope="module")
def endings() -> dict[str, str]:
    """How processes ended that were locked down and then made one system call each."""
    program = [sys.executable, str(Path(__file__).with_name("breaking_out.py")), json.dumps(FORBIDDEN | HARMLESS)]
    done = subprocess.run(program, check=True, capture_output=True, text=True)  # noqa: S603 - our own program
    result: dict[str, str] = json.loads(done.stdout)
    return result


@pytest.mark.parametrize("what", FORBIDDEN)
def test_forbidden_call_kills(what: str, endings: dict[str, str]) -> None:
    assert endings[what] == "SIGSYS"


@pytest.mark.parametrize("what", HARMLESS)
def test_call_that_runs_need_does_not_kill(what: str, endings: dict[str, str]) -> None:
    assert endings[what] in {"survived", "failed"}


@pytest.mark.parametrize("machine", ["X86_64", "AARCH64"])
def test_filter_is_complete_on_every_machine(machine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a machine that lacks a call (aarch64 has no poll) the rest of the list must still come out."""
    architecture = getattr(pyseccomp.Arch, machine)

    class Foreign(pyseccomp.SyscallFilter):  # type: ignore[misc] # untyped
        def __init__(self, default: object) -> None:
            super().__init__(default)
            if not self.exist_arch(architecture):
                self.add_arch(architecture)
                self.remove_arch(pyseccomp.Arch.NATIVE)

    monkeypatch.setattr(pyseccomp, "SyscallFilter", Foreign)
    made = allow_list()
    with tempfile.TemporaryFile() as file:
        made.export_pfc(file)
        file.seek(0)
        rules = file.read().decode()
    for name in {*ALLOWED, "mmap", "mprotect"} - {"poll"}:
        assert f'"{name}"' in rules, name
    assert "action KILL_PROCESS" in rules
