"""Writes docs/open-questions.md: what the specification leaves open, the readings taken, and what judged nodes do.

Run ``python -m conformance.selftest.tools.questions`` after a change of the catalogue or of the variants.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from conformance.profile import Profile, usual, value_at
from conformance.profile.load import with_addresses
from conformance.profile.section import Section
from conformance.requirements import Requirement, Tension, catalogue
from conformance.selftest.variants import VARIANTS
from conformance.selftest.variants.variant import Members, merged

PAGE = Path(__file__).parents[3] / "docs" / "open-questions.md"
ADDRESS = "http://127.0.0.1:8000"
HEAD = """\
Where the [specification](specification.md) is silent the [vendor profile](profile.md) answers; where it pulls two ways
suite and reference node follow one reading. This page is generated (`python -m conformance.selftest.tools.questions`);
`service-conformance requirements --silent` prints the questions on a terminal. *Others* are the correct nodes of the
[self-test](selftest.md) that chose otherwise.
"""


def page() -> str:
    """The page."""
    known = catalogue()
    return "\n".join([*_head(), *_silent(known.silent), *_tensions(known.tensions)]) + "\n"


def _head() -> Iterator[str]:
    yield "# Questions for the next edition of the specification"
    yield ""
    yield from HEAD.splitlines()


def _silent(found: tuple[Requirement, ...]) -> Iterator[str]:
    yield ""
    yield f"## What it does not say ({len(found)})"
    profiles = {name: _profile(name) for name in VARIANTS}
    for one in found:
        key = str(one.profile_key)
        yield ""
        yield f"### {one.id}: `{key}`"
        yield ""
        yield f"{_plain(one.text)} ({one.section})"
        yield ""
        yield f"- reference node: {_plain(str(one.reference_choice))}"
        assumed = _value(value_at(usual(), key))
        for name, profile in profiles.items():
            if (value := _value(value_at(profile, key))) != assumed:
                yield f"- others, {name}: `{value}`"


def _profile(name: str) -> Profile:
    whole = {"base_url": ADDRESS, "rpc_url": f"{ADDRESS}/rpc", "control_url": f"{ADDRESS}/control"}
    provider: Members = {"payments": {"provider_url": f"{ADDRESS}/stripe"}}
    stated = with_addresses({**whole, "profile": merged(provider, VARIANTS[name].profile)})
    return Profile.model_validate_json(json.dumps(stated))


def _value(value: object) -> str:
    plain = value.model_dump(mode="json") if isinstance(value, Section) else value
    return json.dumps(plain, ensure_ascii=False, default=str)


def _plain(text: str) -> str:
    return " ".join(text.split()).replace("<", "\\<")


def _tensions(found: tuple[Tension, ...]) -> Iterator[str]:
    yield ""
    yield f"## Where it pulls two ways ({len(found)})"
    for number, one in enumerate(found, 1):
        yield ""
        yield f"### {number}. {', '.join(one.ids)}"
        yield ""
        yield _plain(one.text)
        yield ""
        yield from (f"- {_plain(reading)}" for reading in one.readings)
        yield ""
        yield f"Taken: {_plain(one.decided)}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
