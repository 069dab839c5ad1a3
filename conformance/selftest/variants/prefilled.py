"""A correct node whose new accounts are not empty."""

from __future__ import annotations

from collections.abc import Callable

from conformance.selftest.tools.accounts import NOTHING, Write
from conformance.selftest.tools.alter import wrap
from conformance.selftest.variants.variant import choices
from reference_node.chain.account_config import UsageKey
from reference_node.node import Node
from reference_node.permission.keys import address_of, key_hash, new_derivation_path, new_secret


@choices({})
def prefilled(node: Node) -> None:
    """Create each account with a wallet, a usage key and a group.

    The specification does not say that a fresh account is empty.
    """
    wrap(node.accounts, "new_account", _with_a_start(node))


def _with_a_start(node: Node) -> Callable[..., None]:
    def create(write: Write, account: int, wallet: bytes, *labels: str) -> None:
        write(account, wallet, *labels)
        path = new_derivation_path()
        first = address_of(node.keys.wallet_key(path))
        node.accounts.create_wallet(account, first, path, "first wallet", "made with the account")
        node.accounts.add_group(account, "first group", "made with the account", [], [])
        key = UsageKey(key_hash(new_secret()), 0, 0, "first key", "made with the account", NOTHING)
        node.accounts.set_usage_key(account, key)

    return create
