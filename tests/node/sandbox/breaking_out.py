"""What a broken engine might try: one system call each, in a process that is locked down as a run's is.

Run as a program with a JSON object of attempts (name to list of system-call name and arguments), it prints how each
process ended.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys

import pyseccomp  # type: ignore[import-untyped]

from reference_node.sandbox.limits import Limits
from reference_node.sandbox.lockdown import Lockdown, build_filter, drop_rights, resource_bounds

libc = ctypes.CDLL(None, use_errno=True)
SURVIVED = "survived"


def attempt(lockdown: Lockdown, call: str, arguments: list[int | str]) -> str:
    """How a locked-down process ends that makes this system call."""
    number = pyseccomp.resolve_syscall(pyseccomp.Arch.NATIVE, call)
    values = [
        ctypes.c_char_p(value.encode()) if isinstance(value, str) else ctypes.c_long(value) for value in arguments
    ]
    node = os.getpid()
    child = os.fork()
    if child == 0:
        drop_rights(node)
        os.closerange(1, 1024)
        lockdown.put_on()
        os._exit(7 if libc.syscall(number, *values) == -1 else 0)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return signal.Signals(os.WTERMSIG(status)).name
    return SURVIVED if os.WEXITSTATUS(status) == 0 else "failed"


def main() -> None:
    """Try everything."""
    lockdown = Lockdown(resource_bounds(Limits()), build_filter())
    results = {name: attempt(lockdown, *call) for name, call in json.loads(sys.argv[1]).items()}
    print(json.dumps(results))


if __name__ == "__main__":
    main()
