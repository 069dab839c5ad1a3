"""Translates between a contract's function as packs call it and as one node's contract has it.

Arguments, results and members of structs are matched by their names, whatever their order; capitals and underscores do
not count. A signature without names is matched by position. ("Chain", `chain.abi`.)
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Self

from conformance.profile.abi import Function, Parameter
from conformance.values.json_values import Incomplete

_INTEGER = re.compile(r"u?int\d+")
_SIZED = re.compile(r"\[\d+\]")
WORD = 32
ADDRESS = 20
LABELS = frozenset({"name", "description"})
PAGE_SIZE = "pageSize"
"""A list that does not take it is one page."""


class DoesNotFit(ValueError):  # noqa: N818 - not being made for a call is no error of the contract
    """A call needs an argument that the contract's function lacks, or whose type cannot hold the value."""


@dataclass(frozen=True)
class Translation:
    """One function as the suite calls it and as the node's contract has it."""

    suite: Function
    own: Function
    """With the suite's names; a result that the suite does not know has none."""

    @classmethod
    def of(cls, suite: Function, own: Function) -> Self:
        """Match a function. ValueError: the suite has no value for an argument, or a type cannot stand for another."""
        inputs = _named(own.inputs, suite.inputs, "argument")
        for parameter, given in zip(inputs, own.inputs, strict=True):
            if not parameter.name:
                known = ", ".join(one.name for one in suite.inputs)
                raise ValueError(
                    f"nothing is known for the argument {given.name}; known here: {known}. Null in place of the "
                    "function says that there is none like it"
                )
        return cls(suite, replace(own, inputs=inputs, outputs=_outputs(own.outputs, suite.outputs)))

    @property
    def untaken(self) -> list[str]:
        """The arguments that packs give and the contract's function does not take."""
        taken = {one.name for one in self.own.inputs}
        return [one.name for one in self.suite.inputs if one.name not in taken]

    @property
    def unreturned(self) -> list[str]:
        """The results and members of structs that packs know and the contract's function does not return."""
        own, suite = self.own.outputs, self.suite.outputs
        if _stands_alone(own, suite):
            return _unreturned(own, suite[0].members)
        return _unreturned(own[0].members if _stands_alone(suite, own) else own, suite)

    def arguments(self, values: Sequence[object], *, without_labels: bool = False) -> list[object]:
        """The suite's arguments as the contract's function takes them.

        Empty values of arguments that it lacks are left out, with `without_labels` labels as well. DoesNotFit: another
        value cannot be passed. ValueError: the number is not that of the suite's arguments.
        """
        if len(values) != len(self.suite.inputs):
            raise ValueError(f"{len(values)} arguments in place of {len(self.suite.inputs)}")
        given = {one.name: (one, value) for one, value in zip(self.suite.inputs, values, strict=True)}
        own = {one.name for one in self.own.inputs}
        for name, (_, value) in given.items():
            if name not in own and value and name != PAGE_SIZE and not (without_labels and name in LABELS):
                raise DoesNotFit(f"a contract whose {self.own.name} takes {name}")
        return [_passed(one, *given[one.name], self.own.name) for one in self.own.inputs]

    def results(self, values: Sequence[object]) -> dict[str, object]:
        """The decoded results of a call as JSON values by the suite's names; what the contract lacks is unknown."""
        suite, own = self.suite.outputs, self.own.outputs
        if _stands_alone(own, suite):
            return {suite[0].name: self._shown(suite[0].members, own, values)}
        if _stands_alone(suite, own):
            own, values = own[0].members, _items(values[0])
        return self._shown(suite, own, values)

    def _shown(
        self, suite: Sequence[Parameter], own: Sequence[Parameter], values: Sequence[object]
    ) -> dict[str, object]:
        by_name = {one.name: (one, value) for one, value in zip(own, values, strict=True) if one.name}
        members = {one.name: self._told(one, *by_name[one.name]) for one in suite if one.name in by_name}
        lacking = {one.name: f"a contract whose {self.own.name} returns {one.name}" for one in suite}
        return Incomplete(members, {name: need for name, need in lacking.items() if name not in members})

    def _told(self, suite: Parameter, own: Parameter, value: object) -> object:
        """One result as a JSON value of the suite's type."""
        if own.type.endswith("]"):
            return [self._told(_item(suite), _item(own), one) for one in _items(value)]
        if own.members:
            return self._shown(suite.members, own.members, _items(value))
        if isinstance(value, bytes):
            return int.from_bytes(value) if _INTEGER.fullmatch(suite.type) else f"0x{value.hex()}"
        if suite.type == "bytes32":
            return f"0x{_number(value) or 0:0{2 * WORD}x}"
        return value


@cache
def translation(suite: str, own: str) -> Translation:
    """Match two signatures. ValueError: they do not parse, or `Translation.of` raises it."""
    return Translation.of(Function.parse(suite), Function.parse(own))


def _is_struct(parameter: Parameter) -> bool:
    return bool(parameter.members) and not parameter.type.endswith("]")


def _stands_alone(parameters: Sequence[Parameter], others: Sequence[Parameter]) -> bool:
    """Whether the others are one struct whose members these parameters are."""
    is_struct = len(others) == 1 and _is_struct(others[0])
    return is_struct and bool(parameters) and not (len(parameters) == 1 and _is_struct(parameters[0]))


def _unreturned(own: Sequence[Parameter], suite: Sequence[Parameter]) -> list[str]:
    by_name = {one.name: one for one in own}
    missing = [one.name for one in suite if one.name not in by_name]
    inner = [
        name for one in suite if one.name in by_name for name in _unreturned(by_name[one.name].members, one.members)
    ]
    return missing + inner


def _outputs(own: tuple[Parameter, ...], suite: tuple[Parameter, ...]) -> tuple[Parameter, ...]:
    """The results with the suite's names; a struct's members may stand alone, and the other way round."""
    if not own:
        return ()
    if _stands_alone(own, suite):
        return _named(own, suite[0].members, "result")
    if _stands_alone(suite, own):
        return (replace(own[0], members=_named(own[0].members, suite, "result")),)
    return _named(own, suite, "result")


def _named(own: Sequence[Parameter], suite: Sequence[Parameter], what: str) -> tuple[Parameter, ...]:
    """The contract's parameters with the suite's names, the members of structs as well."""
    found = [_like(parameter, twin) for parameter, twin in zip(own, _twins(own, suite, what), strict=True)]
    names = [one.name for one in found if one.name]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"two are called {', '.join(twice)}")
    return tuple(found)


def _twins(own: Sequence[Parameter], suite: Sequence[Parameter], what: str) -> list[Parameter | None]:
    """For each of the contract's parameters the suite's of the same meaning."""
    if not own:
        return []
    if not any(parameter.name for parameter in own) or (what == "result" and len(own) == len(suite) == 1):
        if len(own) != len(suite):
            wanted = ", ".join(f"{one.type} {one.name}" for one in suite)
            raise ValueError(f"{len(own)} {what}s without names where packs know {len(suite)}: name them ({wanted})")
        return list(suite)
    if not all(parameter.name for parameter in own):
        raise ValueError(f"name every {what}, or none")
    by_name = {_plain(one.name): one for one in suite}
    twins = [by_name.get(_plain(parameter.name)) for parameter in own]
    if what == "result" and len(suite) == 1 and not any(twins):
        alike = [parameter for parameter in own if _stands_for(parameter, suite[0])]
        return [suite[0] if alike == [parameter] else None for parameter in own]
    return twins


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def _like(own: Parameter, suite: Parameter | None) -> Parameter:
    if suite is None:
        return replace(own, name="")
    if not _stands_for(own, suite):
        raise ValueError(f"{suite.name} has the type {own.type}, which cannot stand for {_written(suite)}")
    return replace(own, name=suite.name, members=_named(own.members, suite.members, "member"))


def _written(parameter: Parameter) -> str:
    return "a struct" if parameter.members else parameter.type


def _stands_for(own: Parameter, suite: Parameter) -> bool:
    if own.type.count("[") - _inner(own) != suite.type.count("[") - _inner(suite) or _SIZED.search(own.type):
        return False
    if own.members or suite.members:
        return bool(own.members) and bool(suite.members)
    mine, its = own.type.replace("[]", ""), suite.type.replace("[]", "")
    if _INTEGER.fullmatch(its):
        return bool(_INTEGER.fullmatch(mine)) or (mine, its) == ("bytes32", "uint256")
    return mine == its or (its == "bytes32" and mine in {"uint256", "address"})


def _inner(parameter: Parameter) -> int:
    """How many brackets the members of a struct have."""
    return sum(member.type.count("[") for member in parameter.members)


def _passed(own: Parameter, suite: Parameter, value: object, function: str) -> object:
    """One argument in the contract's type; what is not of the suite's type is passed as it is."""
    if isinstance(value, list):
        return [_passed(_item(own), _item(suite), one, function) for one in value]
    if own.type == suite.type:
        return value
    number = _number(value)
    if number is None:
        return value
    if own.type == "address":
        if number >> 8 * ADDRESS:
            raise DoesNotFit(f"a contract whose {function} takes a {own.name} of 32 bytes, not an address")
        return f"0x{number:0{2 * ADDRESS}x}"
    if own.type == "bytes32":
        return f"0x{number:0{2 * WORD}x}"
    bits = int(own.type.lstrip("uint")) - (0 if own.type.startswith("u") else 1)
    if number >> bits and not _is_too_large_for(suite, number):
        raise DoesNotFit(f"a contract whose {function} takes a {own.name} of type {suite.type}, not {own.type}")
    return number


def _is_too_large_for(suite: Parameter, number: int) -> bool:
    return bool(_INTEGER.fullmatch(suite.type)) and bool(number >> int(suite.type.lstrip("uint")))


def _item(parameter: Parameter) -> Parameter:
    return replace(parameter, type=parameter.type.removesuffix("[]"))


def _number(value: object) -> int | None:
    if isinstance(value, int):
        return value if value >= 0 else None
    try:
        return int(value, 16 if value.startswith("0x") else 10) if isinstance(value, str) else None
    except ValueError:
        return None


def _items(value: object) -> Sequence[object]:
    return value if isinstance(value, list | tuple) else ()
