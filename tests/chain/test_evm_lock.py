"""The chain's lock: one at a time, again for whoever has it, and nobody twice running while others wait."""

from __future__ import annotations

import threading
import time

import pytest

from reference_node.chain.evm_lock import FairLock


def test_thread_that_waits_comes_before_the_one_that_had_it() -> None:
    lock, order = FairLock(), list[str]()

    def wait() -> None:
        with lock:
            order.append("waiting")

    waiting = threading.Thread(target=wait)
    with lock:
        waiting.start()
        for _ in range(10_000):  # until it stands in the entrance; a lock that lets nobody stand there is given time
            if lock._entrance.locked():
                break
            time.sleep(0.001)
    with lock:
        order.append("again")
    waiting.join()
    assert order == ["waiting", "again"]


def test_thread_that_has_it_enters_again() -> None:
    lock = FairLock()
    with lock, lock:
        pass
    with lock:
        assert lock._inside.locked()
    assert not lock._inside.locked()


def test_error_inside_gives_it_back() -> None:
    lock = FairLock()
    with pytest.raises(RuntimeError), lock:
        raise RuntimeError
    assert not lock._inside.locked()


def test_one_thread_at_a_time_is_inside() -> None:
    lock, inside, most = FairLock(), 0, 0

    def enter() -> None:
        nonlocal inside, most
        for _ in range(50):
            with lock:
                inside += 1
                most = max(most, inside)
                time.sleep(0)
                inside -= 1

    threads = [threading.Thread(target=enter) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1
