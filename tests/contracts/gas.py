"""What AccountConfig's functions cost in gas.

`python tests/contracts/gas.py` writes contracts/gas.json and the tables in docs/contracts.md. A test says whether they
are still true.
"""

from __future__ import annotations

import json
from pathlib import Path

from world import (
    ACCOUNT,
    ADMIN_PAYER,
    CID,
    KEY,
    NEW_OWNER,
    OWNER,
    PAYER,
    PKP,
    STRANGER,
    UNKNOWN,
    WILDCARD,
    WRITES,
    World,
    hash_of,
    key_hash,
    permissions,
    pkp_id,
    populated,
)

ROOT = Path(__file__).resolve().parents[2]
FIGURES = ROOT / "contracts" / "gas.json"
PAGE = ROOT / "docs" / "contracts.md"
BEGIN, END = "<!-- gas figures: python tests/contracts/gas.py -->\n", "<!-- end of gas figures -->\n"

HUNDRED = list(range(1, 101))


def write_gas() -> dict[str, int]:
    """Gas of each write in the small world of the tests, and of some in a large one."""
    others = {
        "newAccount": (PAYER, (UNKNOWN, OWNER.address, "account", "of the owner")),
        "newChainSecuredAccount": (STRANGER, ("account", "of the owner")),
        "convertToChainSecuredAccount": (PAYER, (ACCOUNT, NEW_OWNER.address)),
        "setApiPayers": (ADMIN_PAYER, ([PAYER.address, STRANGER.address],)),
        "setAdminApiPayer": (ADMIN_PAYER, (STRANGER.address,)),
    }
    gas = {"(deployment)": World().config.deployment.gas_used}
    for function, (sender, arguments) in others.items():
        gas[function] = populated().gas(function, *arguments, sender=sender)
    for write in WRITES:
        gas[write.function] = populated().gas(write.function, ACCOUNT, *write.arguments)
    return gas | large_write_gas()


def large_write_gas() -> dict[str, int]:
    """Gas of writes that grow with what they name."""
    actions = [hash_of(f"action {number}") for number in HUNDRED]
    gas = {"addGroup, 100 actions": populated().gas("addGroup", ACCOUNT, "", "", [], actions)}
    world = with_groups(100)
    named = permissions(manage=HUNDRED, add=HUNDRED, remove=HUNDRED, execute=HUNDRED)
    key = (ACCOUNT, UNKNOWN, 0, 0, "", "", *named)
    gas["setUsageApiKey, 100 groups in all four arrays"] = world.gas("setUsageApiKey", *key)
    for number in range(9):
        world.write("setUsageApiKey", ACCOUNT, key_hash(f"key {number}"), 0, 0, "", "", *permissions(execute=[1]))
    gas["removeGroup, named by 10 keys"] = world.gas("removeGroup", ACCOUNT, 1)
    return gas


def view_gas() -> dict[str, int]:
    """Gas that views would cost, in an account with 100 groups of which one lists the action asked for."""
    world = with_groups(100)
    config, question = world.config, (CID, pkp_id(PKP))
    gas = {"canExecute, account key": config.call_gas("canExecute", ACCOUNT, *question)}
    for label, groups in {"1 group": [1], "100 groups": HUNDRED, "the wildcard": [0]}.items():
        world.grant(permissions(execute=groups))
        gas[f"canExecute, usage key with {label}"] = config.call_gas("canExecute", KEY, *question)
    gas["keyInfo"] = config.call_gas("keyInfo", KEY)
    for size in (1, 20, 100):
        gas[f"listGroups, page of {size}"] = config.call_gas("listGroups", ACCOUNT, 0, size)
    return gas


def with_groups(count: int) -> World:
    """The small world with so many groups in the first account."""
    world = populated()
    for _ in range(count - 2):
        world.write("addGroup", ACCOUNT, "group", "of many", [WILDCARD], [hash_of("another action")])
    return world


def figures() -> str:
    """The text of the committed file."""
    return json.dumps({"views": view_gas(), "writes": write_gas()}, indent=2, sort_keys=True) + "\n"


def tables(text: str) -> str:
    """The figures as the documentation shows them."""
    lines: list[str] = []
    for kind, gas in sorted(json.loads(text).items(), reverse=True):
        lines += [
            f"| {kind[:-1]} | gas |",
            "|---|---:|",
            *(f"| {name} | {amount:,} |" for name, amount in gas.items()),
            "",
        ]
    return "\n".join(lines)


def with_tables(page: str, text: str) -> str:
    """The documentation's page with the tables in their place."""
    before, rest = page.split(BEGIN)
    return f"{before}{BEGIN}\n{tables(text)}\n{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    content = figures()
    FIGURES.write_text(content, encoding="utf-8")
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8"), content), encoding="utf-8")
