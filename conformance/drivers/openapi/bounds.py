"""Bounds what a description costs whoever reads it (docs/limits.md): a node may state any schema, and any pattern."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from urllib.parse import unquote

from jsonschema import validators
from jsonschema.exceptions import ValidationError
from jsonschema.protocols import Validator

from conformance.problems import BeyondLimits
from conformance.values.json_values import member

MOST_VALUES = 200_000
"""Of a description, the inner ones included."""
MOST_ENTRIES = 1_000
"""Of one array in it: libraries compare each entry with each."""
MOST_EXPANDED = 1_000_000
"""Values of a description when each reference is replaced by what it leads to: twice the next, forty times."""
MOST_STEPS = 300_000
"""Of the comparison of one answer with its schema; two seconds."""
SHOWN_BY_A_STEP = 100
"""Characters of a message that count like a step: messages hold the value, which may be long."""
FEW = 100
"""Entries of a list that are compared each with each."""
EXPECTED = "an OpenAPI description within the limits"
NAMES = frozenset({"properties", "patternProperties", "schemas", "$defs", "definitions"})
"""Members whose own members are names, and no words of JSON Schema."""
CHOICE = re.compile(r"[*+?|]|\{[0-9]*,")
"""Where a regular expression may go on in more ways than one."""
MOST_CHOICES = 1
LONGEST_PATTERN = 300

Keyword = Callable[[Validator, object, object, Mapping[str, object]], Iterator[ValidationError] | None]


def check_size(document: Mapping[str, object]) -> None:
    """Raise BeyondLimits for a document that nobody can be asked to read."""
    for number, value in enumerate(_inside(document)):
        if isinstance(value, list) and len(value) > MOST_ENTRIES:
            raise BeyondLimits(EXPECTED, f"an array of {len(value)} entries, of at most {MOST_ENTRIES}")
        if number >= MOST_VALUES:
            raise BeyondLimits(EXPECTED, f"more than {MOST_VALUES} values")
    if _expanded(document) > MOST_EXPANDED:
        raise BeyondLimits(EXPECTED, f"references that stand for more than {MOST_EXPANDED} values")


def at(document: object, pointer: str) -> object:
    """What a JSON pointer names; MISSING where it names nothing."""
    value = document
    for part in pointer[1:].split("/"):
        value = member(value, part.replace("~1", "/").replace("~0", "~"))
    return value


def _inside(value: object) -> Iterator[object]:
    """A value of JSON and all values inside of it."""
    left = [value]
    while left:
        part = left.pop()
        yield part
        left += part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()


def _expanded(document: object) -> int:
    """How many values there are when references are replaced; one that leads back into itself counts once."""
    weights: dict[str, int] = defaultdict(lambda: 1)
    begun: set[str] = set()
    left = ["#"]
    inner: dict[str, tuple[int, list[str]]] = {}
    while left:
        reference = left[-1]
        if reference in inner:  # what it leads to is known by now
            size, references = inner.pop(reference)
            weights[reference] = min(MOST_EXPANDED + 1, size + sum(weights[one] for one in references))
        if reference in begun:
            left.pop()
            continue
        begun.add(reference)
        values = list(_inside(document if reference == "#" else at(document, reference[1:])))
        stated = [unquote(one) for value in values if isinstance(one := member(value, "$ref"), str)]
        inner[reference] = len(values), [one for one in stated if one.startswith("#/")]
        left += [one for one in dict.fromkeys(inner[reference][1]) if one not in begun]
    return weights["#"]


def without_unbounded(value: object, *, names: bool = False) -> object:
    """A description without what cannot be judged in bounds: such patterns, and words that look at all others.

    `names`: whether the members of the value are names.
    """
    if isinstance(value, list):
        return [without_unbounded(one) for one in value]
    if not isinstance(value, dict):
        return value
    left_out = set() if names else _unjudged(value)
    return {
        name: without_unbounded(one, names=name in NAMES and not names)
        for name, one in value.items()
        if name not in left_out
    }


def _unjudged(schema: Mapping[str, object]) -> set[str]:
    """The words of a schema that are left out."""
    left_out = {"unevaluatedProperties", "unevaluatedItems"}
    if isinstance(schema.get("$schema"), str):  # of another dialect
        left_out.add("$schema")
    if isinstance(pattern := schema.get("pattern"), str) and not is_plain(pattern):
        left_out.add("pattern")
    if not all(map(is_plain, patterns if isinstance(patterns := schema.get("patternProperties"), dict) else ())):
        left_out |= {"patternProperties", "additionalProperties"}
    return left_out


def is_plain(pattern: str) -> bool:
    """Whether a regular expression takes time in proportion to a text: few choices, of which none is repeated."""
    choices = len(CHOICE.findall(pattern))
    if len(pattern) > LONGEST_PATTERN or re.search(r"\)[*+?{]|\\[1-9]|\(\?", pattern):
        return False
    return not choices or (pattern.startswith("^") and choices <= MOST_CHOICES)


def bounded(dialect: type[Validator]) -> type[Validator]:
    """A dialect of JSON Schema for the comparison of one value. It raises BeyondLimits after too many steps."""
    left = MOST_STEPS

    def count(steps: int) -> None:
        nonlocal left
        left -= steps
        if left < 0:
            raise BeyondLimits("an answer that is compared with its schema in a limited number of steps", "more")

    def counted(judge: Keyword) -> Keyword:
        def judge_counted(
            validator: Validator, stated: object, instance: object, schema: Mapping[str, object]
        ) -> Iterator[ValidationError]:
            count(1 + (len(stated) if isinstance(stated, list | dict) else 0))
            for fault in judge(validator, stated, instance, schema) or ():
                count(len(fault.message) // SHOWN_BY_A_STEP)
                yield fault

        return judge_counted

    words: dict[str, Keyword] = {**dialect.VALIDATORS, "uniqueItems": _unique(dialect.VALIDATORS["uniqueItems"])}
    own: type[Validator] = validators.extend(  # type: ignore[no-untyped-call]
        dialect, {word: counted(judge) for word, judge in words.items()}
    )
    return own


def _unique(of_few: Keyword) -> Keyword:
    """`uniqueItems`, for long lists in time in proportion to their length."""

    def judge(
        validator: Validator, stated: object, instance: object, schema: Mapping[str, object]
    ) -> Iterator[ValidationError]:
        if not isinstance(instance, list) or len(instance) <= FEW:
            yield from of_few(validator, stated, instance, schema) or ()
        elif stated and len({json.dumps(one, sort_keys=True) for one in instance}) < len(instance):
            yield ValidationError("a long list has non-unique elements")

    return judge
