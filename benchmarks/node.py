"""The node: a write against the bare transaction, a list against its view, the start against bare imports, growth."""

from __future__ import annotations

import itertools
import secrets
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import NamedTuple

from eth.abc import OpcodeAPI
from eth.vm.forks.prague.opcodes import PRAGUE_OPCODES

from benchmarks.node_process import Account, node_process
from benchmarks.timing import Row, in_turn
from reference_node.assembly import build_node
from reference_node.chain import evm_instructions, evm_machine
from reference_node.fields import MAXIMUM_PAGE_SIZE
from reference_node.node import Node
from reference_node.permission.keys import address_of, key_hash
from reference_node.settings import Settings

LIBRARIES = (
    "eth.vm.forks.prague, coincurve, eth_abi, eth_account, eth_utils, fastapi, fastapi_offline, uvicorn, "
    "cryptography.x509, dns.message, yaml"
)
"""What the node cannot do without."""

ITEMS = 20
SMALL, LARGE = 100, 5_000

PAGE_SIZES = itertools.cycle(range(ITEMS, MAXIMUM_PAGE_SIZE + 1))
"""Each asks for the same items in another call: the same call of the same moment is answered from memory."""


def rows() -> list[Row]:
    """Every measurement of the node."""
    return [*_writes_and_lists(), *_instructions(), _start(), *_growth()]


def _writes_and_lists() -> list[Row]:
    bare = build_node(Settings())
    account_hash, _ = _managed_account(bare)
    with node_process() as ready:
        account = Account(ready)
        for _ in range(ITEMS):
            account.post("create_wallet")
            bare.accounts.create_wallet(account_hash, secrets.token_bytes(20), secrets.randbits(256), "", "")
        write = in_turn([lambda: account.post("add_group", group_name="g", group_description="d"),
                         lambda: bare.accounts.add_group(account_hash, "g", "d", [], [])], 300)  # fmt: skip
        listed = in_turn([lambda: account.get(f"/list_wallets?page_size={next(PAGE_SIZES)}"),
                          lambda: bare.accounts.wallets(account_hash, 0, next(PAGE_SIZES))], 300)  # fmt: skip
    return [
        Row("management write over HTTP (add_group)", write[0], "the bare transaction on the chain", write[1], 3.0),
        Row(f"list of {ITEMS} wallets over HTTP", listed[0], "its contract view", listed[1], 1.5),
    ]


def _instructions() -> list[Row]:
    """A write and a view by the node's own instructions, and by py-evm's."""
    bare = build_node(Settings())
    account_hash, _ = _managed_account(bare)
    acts: dict[str, Callable[[], object]] = {
        "add_group": lambda: bare.accounts.add_group(account_hash, "g", "d", [], []),
        "list_groups": lambda: bare.accounts.groups(account_hash, 0, next(PAGE_SIZES)),
    }

    def by(instructions: Mapping[int, OpcodeAPI], act: Callable[[], object]) -> None:
        evm_machine.MemoryComputation.opcodes = dict(instructions)
        act()

    own = evm_machine.INSTRUCTIONS
    py_evm = own | {code: PRAGUE_OPCODES[code] for code in evm_instructions.INSTRUCTIONS}
    rows: list[Row] = []
    try:
        for name, act in acts.items():
            measured, base = in_turn([partial(by, own, act), partial(by, py_evm, act)], 100)
            rows.append(Row(f"{name} by `evm_instructions`", measured, "by py-evm's instructions", base, 0.8))
    finally:
        evm_machine.MemoryComputation.opcodes = own
    return rows


def _start() -> Row:
    def started() -> None:
        with node_process():
            pass

    def imported() -> None:
        subprocess.run([sys.executable, "-c", f"import {LIBRARIES}"], check=True)  # noqa: S603 - our own command

    measured, base = in_turn([started, imported], 5)
    return Row("node ready, then stopped", measured, "bare import of its libraries", base, 2.5)


def _growth() -> list[Row]:
    """The same work on two nodes that differ in how many accounts they hold; always on as many of them."""
    small, large = (_node_with(accounts) for accounts in (SMALL, LARGE))
    acts: dict[str, Callable[[Populated], object]] = {
        "new account": lambda node: _managed_account(node.bare),
        "add_group": lambda node: node.bare.accounts.add_group(next(node.turns), "g", "d", [], []),
        "list_groups": lambda node: node.bare.accounts.groups(next(node.turns), 0, next(PAGE_SIZES)),
    }
    return [_grown(name, partial(act, large), partial(act, small)) for name, act in acts.items()]


def _grown(name: str, in_large: Callable[[], object], in_small: Callable[[], object]) -> Row:
    measured, base = in_turn([in_large, in_small], 300)
    return Row(f"{name} among {LARGE:,} accounts", measured, f"the same among {SMALL}", base, 1.25)


class Populated(NamedTuple):
    """A node without its HTTP side, and some of its accounts' hashes, in turn and without end."""

    bare: Node
    turns: Iterator[int]


def _node_with(accounts: int) -> Populated:
    bare = build_node(Settings())
    hashes = [_managed_account(bare)[0] for _ in range(accounts)]
    return Populated(bare, itertools.cycle(hashes[:SMALL]))


def _managed_account(node: Node) -> tuple[int, bytes]:
    secret = secrets.token_bytes(32)
    node.accounts.new_account(key_hash(secret), address_of(secret), "benchmark", "")
    return key_hash(secret), secret
