"""The decorator that registers mutants, alone and by rows."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.selftest.tools import mutant as module
from conformance.selftest.tools.mutant import Mutant, mutant, row
from conformance.selftest.variants.variant import Choices
from reference_node.node import Node


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Mutant]]:
    """The mutants that a test registers, without the others."""
    own: dict[str, Mutant] = {}
    monkeypatch.setattr(module, "_registry", own)
    return own


def test_mutant_is_named_after_its_function(registry: dict[str, Mutant]) -> None:
    @mutant("GRP-010", "GRP-020")
    def names_are_cut(node: Node) -> None:
        """Cut names after 16 characters.

        What follows is lost.
        """

    made = registry["names-are-cut"]
    assert made.breaks == ("GRP-010", "GRP-020")
    assert made.fault == "Cut names after 16 characters. What follows is lost."
    assert not made.server_fault


def test_each_row_is_a_mutant_with_its_own_arguments(registry: dict[str, Mutant]) -> None:
    told: list[tuple[object, ...]] = []

    @mutant(
        "EP-010",
        also="ERR-140",
        each=["add_group", row("renamed", "update_group", 3, breaks="EP-020 EP-030", also="LIST-170")],
    )
    def answers_nothing(node: Node, operation: str, times: int = 1) -> None:
        """Answer `{operation}` with nothing."""
        told.append((node, operation, times))

    assert [*registry] == ["answers-nothing:add_group", "answers-nothing:renamed"]
    first, second = registry.values()
    assert (first.fault, first.breaks) == ("Answer `add_group` with nothing.", ("EP-010",))
    assert (second.fault, second.breaks) == ("Answer `update_group` with nothing.", ("EP-010", "EP-020", "EP-030"))
    assert (first.also, second.also) == (("ERR-140",), ("ERR-140", "LIST-170"))
    for made in (first, second):
        made.alter(None)  # type: ignore[arg-type]  # the function above takes any node
    assert told == [(None, "add_group", 1), (None, "update_group", 3)]


def test_mutant_of_a_variant_alters_the_variant(registry: dict[str, Mutant]) -> None:
    altered: list[str] = []
    variant = Choices({"accounts": {"credits": "bought"}}, lambda _: altered.append("variant"))

    @mutant("BILL-190", on=variant)
    def writes_are_free(node: Node) -> None:
        """Charge nothing."""
        del node
        altered.append("mutant")

    made = registry["writes-are-free"]
    made.alter(None)  # type: ignore[arg-type]  # neither looks at the node
    assert (altered, made.profile) == (["variant", "mutant"], {"accounts": {"credits": "bought"}})


@pytest.mark.usefixtures("registry")
def test_mutant_without_requirement_or_docstring_is_refused() -> None:
    with pytest.raises(TypeError, match="requirement ids"):

        @mutant()
        def breaks_nothing(node: Node) -> None:
            """Do it wrong."""

    with pytest.raises(TypeError, match="docstring"):

        @mutant("EP-010")
        def says_nothing(node: Node) -> None: ...


@pytest.mark.usefixtures("registry")
def test_second_mutant_of_a_name_is_refused() -> None:
    with pytest.raises(TypeError, match="double:one is defined twice"):

        @mutant("EP-010", each=["one", "one"])
        def double(node: Node, operation: str) -> None:
            """Answer `{operation}` twice."""
