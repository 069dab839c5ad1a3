"""The values of the fixtures for clients' own tests: a reference node, and accounts on it that are ready to use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count

from conformance.endpoints.bundled import BundledNode, require_node
from conformance.endpoints.client import Target
from conformance.profile import Profile, load_ready_file
from conformance.service.node import Node
from conformance.service.session import Session
from conformance.service.usage_keys import Permissions
from conformance.transport import client
from conformance.values.ids import Address, ApiKey, GroupId, PkpId, UsageKey

CONTROL_SECONDS = 30


@dataclass(frozen=True)
class ServiceAccount:
    """An account with credits, a wallet, a group that lets every action use it, and a key that runs actions there."""

    api_key: ApiKey
    wallet_address: Address
    """The address of the wallet of the account key."""
    pkp_id: PkpId
    pkp_address: Address
    group_id: GroupId
    usage_key: UsageKey


class ReferenceNode:
    """A reference node that runs beside the tests."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.base_url = str(profile.base_url)
        self.api_url = f"{self.base_url}/core/v1"
        self.rpc_url = f"{self.base_url}/rpc"
        """The chain's JSON-RPC."""
        self._http = client(timeout=CONTROL_SECONDS)
        self._target = Target(self.base_url, profile, seed="client")
        self._numbers = count(1)

    def new_account(self) -> ServiceAccount:
        """Create an account with credits, a wallet, a group and a usage key."""
        node = Node(Session(self._target, f"account {next(self._numbers)}"))
        account = node.accounts.new("an account of a client's test")
        wallet = node.pkps.create(account.key)
        group = node.groups.add(account.key, pkp_ids=[wallet.id], cid_hashes=[node.groups.all_actions])
        usage_key = node.usage_keys.add(account.key, Permissions(execute_in_groups=[group.id])).key
        return ServiceAccount(account.key, account.wallet_address, wallet.id, wallet.address, group.id, usage_key)

    @contextmanager
    def clock_moved(self, seconds: int) -> Iterator[None]:
        """Move the node's clock by so many seconds until the block ends: forward, or back where negative."""
        self._control("clock", offset_seconds=seconds)
        try:
            yield
        finally:
            self._control("clock", offset_seconds=0)

    def fund(self, address: str, wei: int) -> None:
        """Give a wallet on the node's chain so many wei."""
        self._control("fund", address=address, wei=wei)

    def reset(self) -> None:
        """Forget all accounts, credits and the whole chain."""
        self._control("reset")

    def close(self) -> None:
        """Close the connections."""
        self._target.close()
        self._http.close()

    def _control(self, what: str, **members: object) -> None:
        self._http.post(f"{self.base_url}/control/{what}", json=members).raise_for_status()


@contextmanager
def running_node() -> Iterator[ReferenceNode]:
    """Run a node in a process of its own until the block ends. Raises NodeNotInstalled and NodeNotStarted."""
    require_node("the fixture conformance_node starts a node")
    with BundledNode() as process:
        process.wait_until_ready()
        node = ReferenceNode(load_ready_file(process.ready_file))
        try:
            yield node
        finally:
            node.close()
