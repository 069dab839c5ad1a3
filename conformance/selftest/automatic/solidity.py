"""The mutation operators for Solidity, over the syntax trees of solc.

Only places inside functions are changed. A change replaces a range of the file's bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

Node = Mapping[str, object]
"""A node of solc's syntax tree."""

COMPARED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
JOINED = {"&&": "||", "||": "&&"}
COMPUTED = {"+": "-", "-": "+", "*": "/", "/": "*", "<<": ">>", ">>": "<<", "&": "|", "|": "&"}
DROPPED = ("ExpressionStatement", "EmitStatement", "RevertStatement", "Continue")


@dataclass(frozen=True)
class Place:
    """A range of a file's bytes."""

    start: int
    end: int

    @classmethod
    def of(cls, node: Node) -> Place:
        """The range of a node, which solc writes as `start:length:file`."""
        start, length, _ = map(int, str(node["src"]).split(":"))
        return cls(start, start + length)

    def text(self, code: bytes) -> str:
        """The code in this range."""
        return code[self.start : self.end].decode()


@dataclass(frozen=True)
class SolidityChange:
    """A range of a file and the code that replaces it."""

    operator: str
    place: Place
    after: str


def children(node: Node) -> Iterator[Node]:
    """The nodes right below a node, in the order of solc's members."""
    for value in node.values():
        for part in value if isinstance(value, list) else (value,):
            if isinstance(part, dict) and "nodeType" in part:
                yield part


def walk(node: Node) -> Iterator[Node]:
    """A node and all nodes below it."""
    yield node
    for child in children(node):
        yield from walk(child)


def part(node: Node, name: str) -> Node:
    """A member that is a node."""
    found = node[name]
    assert isinstance(found, dict)  # noqa: S101 - solc's grammar
    return found


def parts(node: Node, name: str) -> list[Node]:
    """A member that is a list of nodes."""
    found = node[name]
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def solidity_changes(function: Node, code: bytes) -> Iterator[SolidityChange]:
    """Every change inside a function, in the order of its tree."""
    if not isinstance(function.get("body"), dict):
        return
    if function["nodeType"] == "FunctionDefinition":
        yield from _returned_early(function)
        yield from _modifiers(function)
    for node in walk(part(function, "body")):
        for operator in OPERATORS:
            yield from operator(node, code)


def _returned_early(function: Node) -> Iterator[SolidityChange]:
    """Return at once from a function whose only result is a bool."""
    results = parts(part(function, "returnParameters"), "parameters")
    if [_type(one) for one in results] == ["bool"]:
        inside = Place.of(part(function, "body")).start + 1
        for answer in ("true", "false"):
            yield SolidityChange("early return", Place(inside, inside), f" return {answer};")


def _modifiers(function: Node) -> Iterator[SolidityChange]:
    for modifier in parts(function, "modifiers"):
        if modifier.get("kind") == "modifierInvocation":
            yield SolidityChange("modifier left out", Place.of(modifier), "")


def _operation(node: Node, code: bytes) -> Iterator[SolidityChange]:
    if node["nodeType"] != "BinaryOperation":
        return
    sign = str(node["operator"])
    left, right = Place.of(part(node, "leftExpression")), Place.of(part(node, "rightExpression"))
    for operator, table in (("other comparison", COMPARED), ("and for or", JOINED), ("other arithmetic", COMPUTED)):
        if sign in table:
            between = Place(left.end, right.start).text(code).replace(sign, table[sign])
            yield SolidityChange(operator, Place.of(node), f"({left.text(code)}{between}{right.text(code)})")
    for kept in (left, right) if sign in JOINED else ():
        yield SolidityChange("operand left out", Place.of(node), kept.text(code))


def _condition(node: Node, code: bytes) -> Iterator[SolidityChange]:
    if node["nodeType"] in ("IfStatement", "Conditional"):
        test = part(node, "condition")
        if not (test["nodeType"] == "BinaryOperation" and test["operator"] in COMPARED):
            place = Place.of(test)
            yield SolidityChange("negated condition", place, f"!({place.text(code)})")
    if node["nodeType"] == "UnaryOperation" and node["operator"] == "!":
        operand = Place.of(part(node, "subExpression"))
        yield SolidityChange("negation left out", Place.of(node), operand.text(code))


def _literal(node: Node, code: bytes) -> Iterator[SolidityChange]:
    if node["nodeType"] != "Literal":
        return
    place = Place.of(node)
    if node["kind"] == "bool":
        yield SolidityChange("other constant", place, "false" if place.text(code) == "true" else "true")
    elif node["kind"] == "number" and not node.get("subdenomination"):
        value = int(place.text(code).replace("_", ""), 0)
        yield SolidityChange("off by one", place, str(value + 1))
        if value > 1:
            yield SolidityChange("off by one", place, str(value - 1))


def _dropped(node: Node, code: bytes) -> Iterator[SolidityChange]:
    if node["nodeType"] in DROPPED:
        place = Place.of(node)
        # solc counts the semicolon to some kinds of statements only.
        end = place.end + (code[place.end : place.end + 1] == b";")
        yield SolidityChange("dropped statement", Place(place.start, end), "{}")


def _swapped(node: Node, code: bytes) -> Iterator[SolidityChange]:
    if node["nodeType"] != "FunctionCall":
        return
    arguments = parts(node, "arguments")
    for first, second in pairwise(arguments):
        one, other = Place.of(first), Place.of(second)
        if _type(first) == _type(second) and one.text(code) != other.text(code):
            between = Place(one.end, other.start).text(code)
            yield SolidityChange(
                "swapped arguments", Place(one.start, other.end), f"{other.text(code)}{between}{one.text(code)}"
            )


def _type(node: Node) -> str:
    return str(part(node, "typeDescriptions").get("typeString"))


OPERATORS: tuple[Callable[[Node, bytes], Iterator[SolidityChange]], ...] = (
    _operation,
    _condition,
    _literal,
    _dropped,
    _swapped,
)
