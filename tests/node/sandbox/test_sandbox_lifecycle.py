"""The processes of the sandbox: what they inherit, how they end, and that none is left."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from running import WAIT, failed, returned, run, until

from reference_node.sandbox import Limits, RunResult, Sandbox, SandboxBroken, SandboxUnavailable
from reference_node.sandbox.warm import LONG_RUN_NICENESS, SPARES, Forked, Zygote
from reference_node.sandbox.zygote import RUN_NICENESS

HELLO = "async function main() { return 'hello' }"
ENDLESS = "for (;;) {}"
CALLS_FIRST = "async function main() { await Service.Actions.signMessage({}); for (;;) {} }"

LOCKED_DOWN_STATUS = {"Seccomp": "2", "NoNewPrivs": "1"}
if os.getuid() == 0:
    NOBODY = "65534 65534 65534 65534"
    LOCKED_DOWN_STATUS |= {"Uid": NOBODY, "Gid": NOBODY, "Groups": "", "CapEff": 16 * "0"}
LOCKED_DOWN = ("socket", *LOCKED_DOWN_STATUS.values())


def children(process: int) -> set[int]:
    """The processes that this one has started, of all its threads, the dead that nobody has buried among them."""
    found: set[int] = set()
    for task in Path(f"/proc/{process}/task").iterdir():
        try:
            found.update(map(int, (task / "children").read_text().split()))
        except OSError:
            continue
    return found


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def descriptor_kinds(process: int) -> list[str]:
    """What its descriptors are: `socket`, `pipe`, the path of a file; but those that it closes in this moment."""
    kinds = []
    for link in Path(f"/proc/{process}/fd").iterdir():
        with suppress(FileNotFoundError):
            kinds.append(str(link.readlink()).split(":")[0])
    return kinds


def alive(process: int) -> bool:
    try:
        return ") Z " not in Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False


@pytest.fixture
def own() -> Iterator[Sandbox]:
    """A sandbox of the test's own, which has started."""
    with Sandbox() as sandbox:
        sandbox.start()
        yield sandbox


@pytest.fixture
def zygote(own: Sandbox) -> int:
    """The warm process of `own`."""
    assert own.process is not None
    return own.process


def in_flight(sandbox: Sandbox, threads: ThreadPoolExecutor) -> Future[RunResult]:
    """A run that does not end by itself, once it has begun."""
    running = threading.Event()
    flight = threads.submit(run, sandbox, CALLS_FIRST, None, lambda *_: running.set())
    assert running.wait(WAIT)
    return flight


def test_sandbox_that_never_runs_starts_nothing() -> None:
    before = children(os.getpid())
    with Sandbox():
        assert children(os.getpid()) <= before


def test_start_and_close_are_idempotent_and_close_ends_everything(own: Sandbox, zygote: int) -> None:
    own.start()
    assert returned(run(own, HELLO)) == "hello"
    runs = children(zygote)
    own.close()
    assert not alive(zygote)
    until(lambda: not any(map(alive, runs)))
    own.close()


def test_closed_sandbox_runs_nothing() -> None:
    sandbox = Sandbox()
    sandbox.close()
    with pytest.raises(SandboxBroken):
        run(sandbox, HELLO)
    with pytest.raises(SandboxBroken):
        sandbox.start()


def test_hundreds_of_runs_leave_no_process_and_no_descriptor(own: Sandbox, zygote: int) -> None:
    returned(run(own, HELLO))
    gc.collect()
    before = descriptors()
    with ThreadPoolExecutor(8) as threads:
        results = list(threads.map(lambda _: run(own, HELLO), range(200)))
    assert {result.response for result in results} == {'"hello"'}
    gc.collect()
    assert descriptors() <= before + 8  # spares, forked ahead by runs at the same time
    until(lambda: len(left := children(zygote)) <= 8 and all(map(alive, left)))


def test_runs_that_are_cut_off_leave_no_process() -> None:
    with Sandbox(Limits(wall_seconds=0.05)) as sandbox:
        for _ in range(10):
            assert run(sandbox, ENDLESS).has_error
        assert sandbox.process is not None
        until(lambda: len(children(sandbox.process)) <= 4)


def test_close_ends_runs_in_flight(own: Sandbox) -> None:
    with ThreadPoolExecutor(4) as threads:
        runs = [in_flight(own, threads) for _ in range(4)]
        own.close()
        for flight in runs:
            assert isinstance(flight.exception(WAIT), SandboxBroken)


def test_process_that_is_forked_as_the_warm_process_dies_ends_before_it_says_anything() -> None:
    program = """
        import os, socket, time
        from reference_node.sandbox.worker import Birth, Connection, run
        ours, theirs = socket.socketpair()
        if os.fork() == 0:
            parent = os.getpid()
            if os.fork() == 0:
                while os.getppid() == parent:
                    time.sleep(0.01)
                run(None, Connection(), None, None, Birth(parent, theirs.fileno()))
            os._exit(0)
        theirs.close()
        ours.settimeout(60)
        print(ours.recv(1))
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=True)  # noqa: S603 - our own program
    assert done.stdout == "b''\n"


def test_run_whose_process_died_with_the_warm_one_begins_anew(
    own: Sandbox, zygote: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    take = Zygote.take

    def take_and_die(warm: Zygote) -> Forked:
        forked = take(warm)
        if warm.process_id == zygote:
            os.kill(zygote, signal.SIGKILL)
            until(lambda: not alive(forked.process))
        return forked

    monkeypatch.setattr(Zygote, "take", take_and_die)
    assert returned(run(own, HELLO)) == "hello"
    assert own.process != zygote


def test_death_of_the_warm_process_ends_runs_in_flight_and_the_next_run_starts_another(
    own: Sandbox, zygote: int
) -> None:
    with ThreadPoolExecutor(1) as threads:
        flight = in_flight(own, threads)
        os.kill(zygote, signal.SIGKILL)
        assert isinstance(flight.exception(WAIT), SandboxBroken)
        assert returned(run(own, HELLO)) == "hello"
        assert not alive(zygote)


def test_death_of_the_warm_process_between_runs_goes_unnoticed(own: Sandbox, zygote: int) -> None:
    os.kill(zygote, signal.SIGKILL)
    until(lambda: not alive(zygote))  # a run that begins before it has died is in flight, and dies with it
    for _ in range(3):
        assert returned(run(own, HELLO)) == "hello"


def test_death_of_the_processes_that_wait_goes_unnoticed(own: Sandbox, zygote: int) -> None:
    assert returned(run(own, HELLO)) == "hello"
    until(lambda: len(children(zygote)) == SPARES)
    for process in children(zygote):
        os.kill(process, signal.SIGKILL)
    for _ in range(SPARES + 1):
        assert returned(run(own, HELLO)) == "hello"
    assert own.process == zygote


def test_death_of_one_run_is_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[Forked] = []
    take = Zygote.take

    def take_and_note(zygote: Zygote) -> Forked:
        taken.append(take(zygote))
        return taken[-1]

    monkeypatch.setattr(Zygote, "take", take_and_note)
    with Sandbox(Limits(wall_seconds=WAIT)) as sandbox, ThreadPoolExecutor(1) as threads:
        flight = in_flight(sandbox, threads)
        os.kill(taken[0].process, signal.SIGKILL)
        assert failed(flight.result(WAIT)).startswith("the run's process died")
        assert sandbox.process is not None
        assert alive(sandbox.process)


def test_run_is_behind_the_node_and_one_that_computes_for_long_behind_the_others(own: Sandbox, zygote: int) -> None:
    behind = min(_niceness(os.getpid()) + RUN_NICENESS, 19)  # no process is any nicer
    far_behind = min(behind + LONG_RUN_NICENESS, 19)
    until(lambda: {*map(_niceness, children(zygote))} == {behind})
    with ThreadPoolExecutor(1) as threads:
        threads.submit(run, own, ENDLESS)
        until(lambda: far_behind in map(_niceness, children(zygote)))
        own.close()


def _niceness(process: int) -> int:
    return int(Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[16])


PARENT = """
    import os, threading
    from reference_node.sandbox import Sandbox
    sandbox = Sandbox()
    sandbox.start()
    code = "async function main() { await Service.Actions.signMessage({}); for (;;) {} }"
    def host(name, argument):
        os.write(1, b"running\\n")
    threads = [threading.Thread(target=sandbox.run, args=(code, "{}", host, 1)) for _ in range(2)]
    for thread in threads:
        thread.start()
"""


def test_death_of_the_node_ends_all() -> None:
    parent = subprocess.Popen(  # noqa: S603 - this interpreter
        [sys.executable, "-c", textwrap.dedent(PARENT)], stdout=subprocess.PIPE
    )
    with parent:
        assert parent.stdout is not None
        assert [parent.stdout.readline() for _ in range(2)] == [b"running\n"] * 2
        (zygote,) = children(parent.pid)
        runs = children(zygote)
        assert len(runs) >= 2
        parent.kill()
    until(lambda: not any(map(alive, {zygote, *runs})))


def test_warm_process_knows_nothing_of_the_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFERENCE_NODE_ROOT_SECRET", "a secret")
    with Path(__file__).open() as inherited, Sandbox() as sandbox:
        os.set_inheritable(inherited.fileno(), True)
        sandbox.start()
        assert sandbox.process is not None
        assert Path(f"/proc/{sandbox.process}/environ").read_bytes() == b""
        assert set(descriptor_kinds(sandbox.process)) <= {"socket", "pipe", "/dev/null"}


@pytest.mark.parametrize("insecure", [False, True], ids=["usual", "told to do without"])
def test_runs_hold_one_descriptor_no_rights_and_a_filter(insecure: bool, capfd: pytest.CaptureFixture[str]) -> None:
    with Sandbox(insecure=insecure) as sandbox:
        returned(run(sandbox, HELLO))
        assert sandbox.process is not None
        until(lambda: {_holds(spare) for spare in children(sandbox.process)} == {LOCKED_DOWN})
    assert capfd.readouterr().err == ""


def _holds(process: int) -> tuple[str, ...]:
    """What kinds of descriptors it has, and its status under each name of `LOCKED_DOWN_STATUS`; nothing if it ended."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
        kinds = descriptor_kinds(process)
    except OSError:
        return ()
    status = dict(line.split(":", 1) for line in lines)
    return (*kinds, *(" ".join(status[name].split()) for name in LOCKED_DOWN_STATUS))


def test_runs_draw_random_numbers_of_their_own(sandbox: Sandbox) -> None:
    code = """async function main() {
      return [Math.random(), crypto.randomUUID(), ...crypto.getRandomValues(new Uint32Array(2))];
    }"""
    drawn = [value for _ in range(30) for value in returned(run(sandbox, code))]
    assert len(set(drawn)) == len(drawn)


REFUSING_FILTER = """
    ALLOW, KILL_PROCESS, MASKED_EQ = 1, 2, 3
    Arg = lambda *_: None
    class SyscallFilter:
        def __init__(self, default): pass
        def add_rule(self, *_): pass
        def load(self): raise OSError(22, "Invalid argument")
"""
REFUSING_LIMITS = """
    RLIMIT_AS = RLIMIT_CPU = RLIMIT_FSIZE = RLIMIT_CORE = RLIMIT_NPROC = RLIMIT_NOFILE = RUSAGE_SELF = 0
    getpagesize = lambda: 4096
    class getrusage:
        ru_maxrss = 0
        def __init__(self, who): pass
    def setrlimit(kind, bounds): raise PermissionError(1, "not here")
"""


@pytest.mark.parametrize(
    ("module", "stand_in", "said"),
    [
        pytest.param("pyseccomp", "raise RuntimeError('no libseccomp here')", "no libseccomp here", id="library"),
        pytest.param("pyseccomp", "raise ImportError('no libseccomp here')", "no libseccomp here", id="module"),
        pytest.param("pyseccomp", REFUSING_FILTER, "the kernel takes no seccomp filter", id="kernel"),
        pytest.param("resource", REFUSING_LIMITS, "can't be locked down here: .*not here", id="limits"),
    ],
)
def test_machine_that_takes_no_lock_down_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, stand_in: str, said: str
) -> None:
    (tmp_path / f"{module}.py").write_text(textwrap.dedent(stand_in))
    monkeypatch.syspath_prepend(tmp_path)
    with Sandbox() as sandbox, pytest.raises(SandboxUnavailable, match=said):
        sandbox.start()


def test_machine_without_seccomp_runs_actions_where_it_is_told_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pyseccomp.py").write_text("raise ImportError('no libseccomp here')")
    monkeypatch.syspath_prepend(tmp_path)
    with Sandbox() as sandbox, pytest.raises(SandboxUnavailable, match="--insecure-sandbox"):
        run(sandbox, HELLO)
    with Sandbox(insecure=True) as insecure:
        assert returned(run(insecure, HELLO)) == "hello"
    assert "WITHOUT seccomp" in capfd.readouterr().err


def test_other_systems_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with Sandbox() as sandbox, pytest.raises(SandboxUnavailable, match="Linux alone"):
        sandbox.start()
