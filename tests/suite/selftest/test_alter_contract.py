"""A contract that hears other calls than were sent: each call is changed alone, whatever runs beside it."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from conformance.selftest.tools.alter_contract import hear
from reference_node.assembly import build_node
from reference_node.chain import evm_calls
from reference_node.chain.evm_calls import Call, Execution
from reference_node.chain.evm_machine import MemoryState
from reference_node.settings import Settings


def test_view_that_runs_while_a_write_is_heard_stays_as_it_was_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, mining, ended = threading.Event(), threading.Event(), threading.Event()
    execute = evm_calls.execute

    def wait_for_the_write(state: MemoryState, call: Call, chain_id: int) -> Execution:
        begun.set()
        assert mining.wait(60)
        return execute(state, call, chain_id)

    node = build_node(Settings())
    try:
        hear(node, lambda sender, data: (sender, data))
        apply = node.chain._apply  # type: ignore[attr-defined]  # of the chain in memory
        monkeypatch.setattr(evm_calls, "execute", wait_for_the_write)
        monkeypatch.setattr(node.chain, "_apply", lambda *given: (mining.set(), ended.wait(60), apply(*given))[-1])
        with ThreadPoolExecutor(1) as threads:
            viewed = threads.submit(node.accounts.account_exists, 1)
            viewed.add_done_callback(lambda _: ended.set())
            assert begun.wait(60)
            node.accounts.new_account(1, b"\x01" * 20, "alice", "of a test")
            assert viewed.result() is False
        assert node.accounts.account_exists(1)
    finally:
        node.close()
