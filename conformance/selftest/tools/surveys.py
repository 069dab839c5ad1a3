"""Measures what ``init`` sees of the reference node and of each correct variant, against what these nodes state.

``python -m conformance.selftest.tools.surveys`` prints the table of docs/init.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from conformance.endpoints.client import Target
from conformance.profile import Profile, usual, value_at
from conformance.profile.section import Section
from conformance.selftest.tools.serving import target_node
from conformance.selftest.variants import VARIANTS
from conformance.service.accounts import Accounts
from conformance.service.session import Session
from conformance.survey import Asker, Notes, read, try_out
from conformance.survey.writing import open_keys, plain
from reference_node.node import Node

REFERENCE = "reference node"
CLAIMS = "capabilities"
"""What a profile claims may be less than what the node offers: the two are not held against each other."""


@dataclass(frozen=True)
class Measure:
    """The keys of one node's profile, as a survey tells them."""

    node: str
    right: tuple[str, ...]
    wrong: tuple[str, ...]
    unstated: tuple[str, ...]
    """Seen, where the node's own profile states nothing."""
    left_open: tuple[str, ...]
    different: tuple[str, ...]
    """Keys whose value differs from the default."""
    found: tuple[str, ...]
    """Those of them that were seen."""
    requests: int
    writes: int


def measure(name: str, *, tries: bool) -> Measure:
    """Survey a node."""
    variant = VARIANTS.get(name)
    with target_node(variant.alter if variant else _as_it_is, "0", variant.profile if variant else {}) as target:
        return measured(name, target, tries=tries)


def _as_it_is(_: Node) -> None:
    """The reference node itself."""


def measured(name: str, target: Target, *, tries: bool) -> Measure:
    """Survey the node of a target, whose profile says what is right."""
    notes, ask = Notes(), Asker(target)
    read(ask, notes)
    if tries:
        try_out(ask, notes)
        if "accounts.credits" in notes.unclear:  # as somebody does it who has bought credit, and gives the key
            try_out(ask, notes, Accounts(Session(target, "survey")).new().key)
    stated = {key: plain(value_at(target.profile, key)) for key in notes.seen}
    unstated = [key for key in notes.seen if key == CLAIMS or _is_silent(target.profile, key)]
    told = [key for key in notes.seen if key not in unstated]
    right = [key for key in told if _same(key, notes.seen[key].value, stated[key])]
    different = list(_different(target.profile))
    return Measure(
        name, tuple(right), tuple(key for key in told if key not in right), tuple(unstated), tuple(open_keys(notes)),
        tuple(different), tuple(key for key in different if key in right), ask.requests, ask.writes,
    )  # fmt: skip


def _is_silent(profile: Profile, key: str) -> bool:
    """Whether a section above the key is null, or the key itself where null is no value."""
    above = key.rpartition(".")[0]
    while above:
        if value_at(profile, above) is None:
            return True
        above = above.rpartition(".")[0]
    return False


def _same(key: str, seen: object, stated: object) -> bool:
    """Lists are sets, but for the one whose first entry counts."""
    if key == "wire.chain_info.further_members" and isinstance(seen, list) and isinstance(stated, list):
        return set(stated) <= set(seen)  # a profile may say less
    if isinstance(seen, list) and isinstance(stated, list) and key != "wire.typed_data.form":
        return sorted(map(str, seen)) == sorted(map(str, stated))
    return seen == stated


def _different(profile: Profile) -> Iterator[str]:
    """The keys with another value than the default, but for addresses of this machine and the contract's functions."""
    for key in open_keys(Notes()):
        value = value_at(profile, key)
        if (
            key == CLAIMS
            or _is_silent(profile, key)
            or isinstance(value, Section)
            or key.startswith("chain.abi.")
            or key.endswith(("_url", "resolver", "_certificate", "_domain"))
        ):
            continue
        if value != value_at(usual(), key):
            yield key


def table() -> Iterator[str]:
    """The table of docs/init.md."""
    yield "| node | without `--try`: right, wrong | with it: right, wrong | open | unlike defaults | of these found |"
    yield "|---|--:|--:|--:|--:|--:|"
    for name in (REFERENCE, *VARIANTS):
        read_only, tried = measure(name, tries=False), measure(name, tries=True)
        yield (
            f"| {name} | {len(read_only.right)}, {len(read_only.wrong)} | {len(tried.right)}, {len(tried.wrong)}"
            f" | {len(tried.left_open)} | {len(tried.different)} | {len(tried.found)} |"
        )


if __name__ == "__main__":
    print("\n".join(table()))
