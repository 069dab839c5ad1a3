"""A correct node that shows less of what wallets write on the chain."""

from __future__ import annotations

import json
from collections.abc import Callable

from eth_utils.address import to_canonical_address
from pydantic import JsonValue

from conformance.selftest.tools.alter import (
    Answered,
    Forward,
    Received,
    change_answer,
    intercept,
    lasting,
    members,
    refusal,
    wrap,
)
from conformance.selftest.tools.alter_chain_answers import change_result
from conformance.selftest.tools.alter_runs import RUN
from conformance.selftest.variants.variant import EVERYTHING, choices
from reference_node.chain.account_config import Wallet
from reference_node.node import Node


@choices(
    {
        "semantics": {
            "usage_key_wallet_listed": False,
            "usage_key_expiration": {"unit": "seconds", "never": 0, "expired_key": "forbidden"},
        },
        "events": {"kinds_and_delivery": {"delivery": "none", "every_state_change": False}},
    }
)
def no_chain_logs(node: Node) -> None:
    """Emit no logs of writes, list no wallets of minted keys, and answer expired keys with 403."""
    of_keys: set[bytes] = lasting(node, "wallets of keys", set())

    def without(view: Callable[..., list[Wallet]], account: int, page: int, size: int) -> list[Wallet]:
        known = [wallet for number in range(10) for wallet in view(account, number, 100)]
        listed = [wallet for wallet in known if wallet.address not in of_keys]
        return listed[page * size : (page + 1) * size]

    def minted(value: JsonValue) -> JsonValue:
        of_keys.add(to_canonical_address(str(members(value)["wallet_address"])))
        return value

    wrap(node.accounts, "wallets", without)
    change_answer(node, "add_usage_api_key_with_signature", minted)
    change_result(node, "eth_getLogs", lambda _, __: [])
    change_result(node, "eth_getTransactionReceipt", lambda _, told: {**members(told), "logs": []} if told else told)
    intercept(node, (*EVERYTHING, RUN), _known_but_expired)


async def _known_but_expired(request: Received, forward: Forward) -> Answered:
    given = await forward(request)
    expired = given.status == 401 and members(json.loads(given.body)).get("code") == "key-expired"
    return refusal(403) if expired else given
