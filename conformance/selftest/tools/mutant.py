"""Mutants: reference nodes with one fault each, made from the outside. They prove that a check can fail."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass

from conformance.selftest import mutants
from reference_node.node import Node


@dataclass(frozen=True)
class Mutant:
    """A faulty node: what is wrong with it, and the requirements that it thereby breaks."""

    name: str
    """Kebab case, from the function's name."""
    family: str
    """The module that it stands in: the topic of its fault."""
    fault: str
    """What the node does wrong, the function's docstring."""
    breaks: tuple[str, ...]
    """Requirement ids. For each of them some check has to fail on this node."""
    alter: Callable[[Node], None]
    """Puts the fault into a freshly built node."""


_registry: dict[str, Mutant] = {}


def mutant(*breaks: str) -> Callable[[Callable[[Node], None]], Mutant]:
    """Register the decorated function as a mutant: it alters a freshly built node and thereby breaks these."""

    def register(alter: Callable[[Node], None]) -> Mutant:
        name = alter.__name__.replace("_", "-")
        if not breaks or not alter.__doc__:
            raise TypeError(f"mutant {name}: give the requirement ids that it breaks and a docstring that says how")
        if name in _registry:
            raise TypeError(f"mutant {name} is defined twice: {alter.__module__} and {_registry[name].family}")
        family = alter.__module__.rpartition(".")[2]
        made = Mutant(name, family, " ".join(alter.__doc__.split()), breaks, alter)
        _registry[name] = made
        return made

    return register


def all_mutants() -> tuple[Mutant, ...]:
    """Every mutant, in the order of their families and of their definition."""
    for module in sorted(pkgutil.iter_modules(mutants.__path__), key=lambda found: found.name):
        importlib.import_module(f"{mutants.__name__}.{module.name}")
    return tuple(_registry.values())
