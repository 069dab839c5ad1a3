"""Registers the nodes that are faulty only under load."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from reference_node.node import Node


@dataclass(frozen=True)
class LoadMutant:
    """A node that is correct for one client at a time and faulty under load."""

    name: str
    """Kebab case, from the function's name; `name:operation` for one of several operations."""
    fault: str
    """What it does wrong, from the function's docstring."""
    pack: str
    """The pack whose cases pass without load and of which one must fail under load."""
    alter: Callable[[Node], None]


LOAD_MUTANTS: dict[str, LoadMutant] = {}


def load_mutant(pack: str = "", each: Sequence[tuple[str, str]] = ()) -> Callable[[Callable[..., None]], object]:
    """Register the decorated function; with `each`, once for each operation, which stands before its pack."""

    def register(alter: Callable[..., None]) -> Callable[..., None]:
        name = alter.__name__.replace("_", "-")
        fault = " ".join((alter.__doc__ or "").split())
        if not each:
            LOAD_MUTANTS[name] = LoadMutant(name, fault, pack, alter)
        for operation, its_pack in each:
            full = f"{name}:{operation}"
            description = fault.format(operation=operation)
            LOAD_MUTANTS[full] = LoadMutant(full, description, its_pack, partial(_with, alter, operation))
        return alter

    return register


def _with(alter: Callable[..., None], operation: str, node: Node) -> None:
    alter(node, operation)
