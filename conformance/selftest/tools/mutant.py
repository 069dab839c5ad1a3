"""Registers mutants: reference nodes with one fault each, made from the outside. They prove that a check can fail."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pydantic import JsonValue

from conformance.selftest import mutants
from reference_node.node import Node

if TYPE_CHECKING:
    from conformance.selftest.variants.variant import Choices

Alter = Callable[..., None]
"""Puts a fault into the freshly built node that it gets first; a row's arguments follow."""


@dataclass(frozen=True)
class Mutant:
    """A faulty node: what is wrong with it, and the requirements that it thereby breaks."""

    name: str
    """Kebab case, from the function's name; `name:label` for a row of a parametrised mutant."""
    family: str
    """The module that defines it: the topic of its fault."""
    fault: str
    """What the node does wrong, from the function's docstring."""
    breaks: tuple[str, ...]
    """Requirement ids. For each of them some check has to fail on this node."""
    alter: Callable[[Node], None]
    """Puts the fault into a freshly built node."""
    server_fault: bool = False
    """Whether the fault is an answer with status 5xx; on any other mutant, one is an error of the mutant."""
    profile: Mapping[str, JsonValue] = field(default_factory=dict)
    """What the node says of itself, beside what the reference node says."""
    also: tuple[str, ...] = ()
    """Requirement ids whose words the fault contradicts too. No check has to fail for them; to charge them is right."""
    restarts: bool = False
    """Whether it offers to be restarted: the fault shows only then."""


@dataclass(frozen=True)
class Row:
    """One node of a parametrised mutant."""

    label: str
    arguments: tuple[object, ...]
    breaks: tuple[str, ...]
    also: tuple[str, ...]


def row(label: str, *arguments: object, breaks: str = "", also: str = "") -> Row:
    """Name a row, give the arguments that follow the node, and the ids, separated by spaces, that it breaks besides.

    `also` are ids as in `mutant`. A row without arguments passes its label.
    """
    return Row(label, arguments or (label,), tuple(breaks.split()), tuple(also.split()))


_registry: dict[str, Mutant] = {}


def mutant(
    *breaks: str,
    also: str = "",
    each: Iterable[Row | str] = (),
    server_fault: bool = False,
    on: Choices | None = None,
    restarts: bool = False,
) -> Callable[[Alter], Alter]:
    """Register the decorated function as a mutant: it alters a freshly built node and thereby breaks these.

    `also` are the ids, separated by spaces, whose words the fault contradicts too; no check has to fail for them.
    `on` is the variant that it alters, where the fault shows on no reference node. With `restarts` it can be
    restarted and keeps its accounts. With `each`, register one mutant for each row, and fill the arguments into the
    docstring's `{names}`. A text is a row whose label is its only argument.
    """

    def register(alter: Alter) -> Alter:
        name = alter.__name__.replace("_", "-")
        fault = " ".join((alter.__doc__ or "").split())
        family = alter.__module__.rpartition(".")[2]
        if not each:
            _add(_planted(Mutant(name, family, fault, breaks, alter, server_fault, {}, (*also.split(),), restarts), on))
        for given in each:
            one = row(given) if isinstance(given, str) else given
            told = inspect.signature(alter).bind(None, *one.arguments).arguments
            row_of = Mutant(
                name=f"{name}:{one.label}",
                family=family,
                fault=fault.format_map(told),
                breaks=(*breaks, *one.breaks),
                alter=_with(alter, one.arguments),
                server_fault=server_fault,
                also=(*also.split(), *one.also),
                restarts=restarts,
            )
            _add(_planted(row_of, on))
        return alter

    return register


def _planted(made: Mutant, on: Choices | None) -> Mutant:
    if on is None:
        return made

    def alter(node: Node) -> None:
        on.alter(node)
        made.alter(node)

    return replace(made, alter=alter, profile=on.profile)


def _with(alter: Alter, arguments: tuple[object, ...]) -> Callable[[Node], None]:
    return lambda node: alter(node, *arguments)


def _add(made: Mutant) -> None:
    if not made.breaks or not made.fault:
        raise TypeError(f"mutant {made.name}: give the requirement ids that it breaks and a docstring that says how")
    if made.name in _registry:
        raise TypeError(f"mutant {made.name} is defined twice: in {made.family} and {_registry[made.name].family}")
    _registry[made.name] = made


def all_mutants() -> tuple[Mutant, ...]:
    """Return every mutant, in the order of their families and of their definition."""
    for module in sorted(pkgutil.iter_modules(mutants.__path__), key=lambda found: found.name):
        importlib.import_module(f"{mutants.__name__}.{module.name}")
    return tuple(_registry.values())
