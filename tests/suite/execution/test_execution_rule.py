"""The model of the Execution rule, against truths written by hand from the specification's three conditions."""

from __future__ import annotations

from itertools import product

import pytest

from conformance.service.execution_rule import ANY, Account, Group, Key, decide

LISTS = (frozenset[str](), frozenset({0}), frozenset({1}), frozenset({0, 1}), frozenset({ANY}))
GROUPS = ("g", "h")
ARRAYS = (None, frozenset[str](), frozenset({"g"}), frozenset({"h"}), frozenset({"g", "h"}), frozenset({ANY}))


def world(*groups: tuple[frozenset[object], frozenset[object]]) -> dict[str, Account]:
    """Groups of the actions x and y and the wallets p and q."""
    made = {
        name: Group(_named(actions, "xy"), _named(wallets, "pq"))
        for name, (actions, wallets) in zip(GROUPS, groups, strict=False)
    }
    return {"own": Account(made, frozenset("pq"))}


def _named(entries: frozenset[object], names: str) -> frozenset[str]:
    return frozenset(ANY if entry == ANY else names[int(str(entry))] for entry in entries)


def by_hand(array: frozenset[str] | None, group: int, actions: frozenset[object], wallets: frozenset[object]) -> bool:
    """The three conditions for one group, action x and wallet p, as the specification numbers them."""
    first = array is None or ANY in array or GROUPS[group] in array
    second = 0 in actions or ANY in actions
    third = 0 in wallets or ANY in wallets
    return first and second and third


def test_model_agrees_with_the_three_conditions_everywhere() -> None:
    """6 kinds of key, and every content of two groups: 6 * 5^4 questions."""
    lists = list(product(LISTS, LISTS))
    for array, one, other in product(ARRAYS, lists, lists):
        expected = by_hand(array, 0, *one) or by_hand(array, 1, *other)
        found = decide(Key("own", array), "x", "p", world(one, other))
        assert found.granted is expected, (array, one, other, found.reason)


@pytest.mark.parametrize(
    ("array", "one", "other", "reason"),
    [
        ({"g"}, ("x", "p"), ("", ""), "the group 'g' lists both"),
        ({"g"}, ("x", ""), ("x", "p"), "no group that the key may use lists the wallet"),
        ({"g"}, ("", "p"), ("x", "p"), "no group that the key may use lists the action"),
        (set(), ("x", "p"), ("x", "p"), "the key may execute in no group"),
        ({"g", "h"}, ("x", "q"), ("y", "p"), "no single group lists both"),
        ({ANY}, (ANY, "q"), ("y", ANY), "no single group lists both"),
        ({"h"}, ("x", "p"), (ANY, ANY), "the group 'h' lists both"),
        ({ANY}, ("x", "q"), ("x", "p"), "the group 'h' lists both"),
        (None, ("", ""), ("", ""), "no group that the key may use lists the action"),
        (None, ("x", "p"), ("", ""), "the group 'g' lists both"),
    ],
)
def test_reason_names_what_decided(
    array: set[str] | None, one: tuple[str, str], other: tuple[str, str], reason: str
) -> None:
    accounts = {"own": Account({"g": _group(one), "h": _group(other)}, frozenset("pq"))}
    key = Key("own", None if array is None else frozenset(array))
    assert decide(key, "x", "p", accounts).reason == reason


def _group(lists: tuple[str, str]) -> Group:
    return Group(frozenset(lists[0]), frozenset(lists[1]))


def test_key_that_does_not_count_is_refused_where_all_is_permitted() -> None:
    everything = {"own": Account({"g": Group(frozenset({ANY}), frozenset({ANY}))}, frozenset("p"))}
    assert decide(Key("own", frozenset({ANY})), "x", "p", everything).granted
    assert not decide(Key("own", frozenset({ANY}), counts=False), "x", "p", everything).granted


def test_wildcard_stands_for_no_wallet_of_another_account() -> None:
    everything = Group(frozenset({ANY}), frozenset({ANY}))
    accounts = {"own": Account({}, frozenset("p")), "foreign": Account({"g": everything}, frozenset("q"))}
    assert decide(Key("foreign", None), "x", "q", accounts).granted
    assert not decide(Key("foreign", None), "x", "p", accounts).granted
    assert not decide(Key("own", None), "x", "p", accounts).granted
