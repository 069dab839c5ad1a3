"""The model of the Execution rule, against truths written by hand from the specification's three conditions."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from conformance.service.execution_rule import ANY, Account, Group, Key, decide

Lists = tuple[str, str]
"""The actions and the wallets that a group lists, a letter each."""
LISTS = list(product(("", "x", "y", "xy", ANY), ("", "p", "q", "pq", ANY)))
ARRAYS = (None, "", "g", "h", "gh", ANY)
"""Of the groups in which a key may execute; an account key has none."""


def key(array: str | None) -> Key:
    return Key("own", None if array is None else frozenset(array))


def world(g: Lists, h: Lists) -> dict[str, Account]:
    """An account with the groups g and h and the wallets p and q."""
    groups = {name: Group(frozenset(actions), frozenset(wallets)) for name, (actions, wallets) in (("g", g), ("h", h))}
    return {"own": Account(groups, frozenset("pq"))}


def by_hand(array: str | None, group: str, actions: str, wallets: str) -> bool:
    """The three conditions for one group, action x and wallet p, as the specification numbers them."""
    first = array is None or ANY in array or group in array
    second = "x" in actions or ANY in actions
    third = "p" in wallets or ANY in wallets
    return first and second and third


def test_model_agrees_with_the_three_conditions_everywhere() -> None:
    """6 kinds of key, and every content of two groups: 6 * 5^4 questions."""
    for array, g, h in product(ARRAYS, LISTS, LISTS):
        expected = by_hand(array, "g", *g) or by_hand(array, "h", *h)
        found = decide(key(array), "x", "p", world(g, h))
        assert found.granted is expected, (array, g, h, found.reason)


@pytest.mark.parametrize(
    ("array", "g", "h", "reason"),
    [
        ("g", ("x", "p"), ("", ""), "the group 'g' lists both"),
        ("g", ("x", ""), ("x", "p"), "no group that the key may use lists the wallet"),
        ("g", ("", "p"), ("x", "p"), "no group that the key may use lists the action"),
        ("", ("x", "p"), ("x", "p"), "the key may execute in no group"),
        ("gh", ("x", "q"), ("y", "p"), "no single group lists both"),
        (ANY, (ANY, "q"), ("y", ANY), "no single group lists both"),
        ("h", ("x", "p"), (ANY, ANY), "the group 'h' lists both"),
        (ANY, ("x", "q"), ("x", "p"), "the group 'h' lists both"),
        (None, ("", ""), ("", ""), "no group that the key may use lists the action"),
        (None, ("x", "p"), ("", ""), "the group 'g' lists both"),
    ],
)
def test_reason_names_what_decided(array: str | None, g: Lists, h: Lists, reason: str) -> None:
    assert decide(key(array), "x", "p", world(g, h)).reason == reason


EVERYTHING = Group(frozenset(ANY), frozenset(ANY))


def test_key_that_does_not_count_is_refused_where_all_is_permitted() -> None:
    accounts = {"own": Account({"g": EVERYTHING}, frozenset("p"))}
    assert decide(key(ANY), "x", "p", accounts).granted
    assert not decide(replace(key(ANY), counts=False), "x", "p", accounts).granted


def test_wildcard_stands_for_no_wallet_of_another_account() -> None:
    accounts = {"own": Account({}, frozenset("p")), "foreign": Account({"g": EVERYTHING}, frozenset("q"))}
    assert decide(Key("foreign", None), "x", "q", accounts).granted
    assert not decide(Key("foreign", None), "x", "p", accounts).granted
    assert not decide(Key("own", None), "x", "p", accounts).granted
