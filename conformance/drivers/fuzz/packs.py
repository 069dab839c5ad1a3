"""Writes failing requests as a pack of steps."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

import yaml
from pydantic import JsonValue, TypeAdapter

from conformance.drivers.steps.caserun import CaseRun
from conformance.language.form import Members
from conformance.language.models import Step
from conformance.language.templates import CompileContext
from conformance.service.reads import RecentReads

NAME = "replay"
STEPS: TypeAdapter[Step] = TypeAdapter(Step)
HEAD = """\
# {source}, sequence {number}, seed {seed}: shrunk.
# As replay.yaml in a folder: service-conformance run --pack-dir FOLDER --pack replay
"""


def replay_case(
    steps: Sequence[Members], title: str, requirements: Sequence[str], needs: Sequence[str]
) -> dict[str, JsonValue]:
    """The case, without steps that only save variables which no step uses."""
    kept = _used(steps)
    first = next((index for index, step in enumerate(kept[:-1]) if not _is_setup(step)), len(kept) - 1)
    case: dict[str, JsonValue] = {"id": NAME, "title": title, "requirements": list(requirements)}
    if needs:
        case["needs"] = list(needs)
    setup, matter = kept[:first], kept[first:]
    matter[-1:] = [{**step, "judges": list[JsonValue](requirements)} for step in matter[-1:]]
    if setup:
        case["setup"] = list[JsonValue](setup)
    return {**case, "steps": list[JsonValue](matter)}


def replay_text(case: dict[str, JsonValue], *, source: str, number: int, seed: str) -> str:
    """The text of the pack."""
    pack = {"pack": NAME, "title": f"A failing sequence of {source}", "needs": ["managed_accounts"], "cases": [case]}
    body = yaml.safe_dump(pack, sort_keys=False, allow_unicode=True, width=120, default_flow_style=None)
    return HEAD.format(source=source, number=number, seed=seed) + body


def _is_setup(step: Members) -> bool:
    return "call" not in step


def _used(steps: Sequence[Members]) -> list[Members]:
    """The steps without those that only save unused variables, and without ids that no step refers to."""
    kept: list[Members] = []
    later = ""
    for step in reversed(steps):
        names = _names(step)
        if kept and names is not None and not any(_mentions(later, name) for name in names):
            continue
        plain = step if f'"control": "{step.get("id")}"' in later else {k: v for k, v in step.items() if k != "id"}
        kept.append(plain)
        later += json.dumps(plain)
    return kept[::-1]


def _names(step: Members) -> list[str] | None:
    """The variables that a step saves, if it does nothing else."""
    if "account" in step:
        return [str(step["account"])]
    names = step.get("save") or {}
    return list(names) if "list" in step and isinstance(names, dict) and "expect" not in step else None


def _mentions(text: str, name: str) -> bool:
    return re.search(rf"\$\{{{name}[.}}]|\"as\": \"{name}\"", text) is not None


def fresh_run(run: CaseRun, context: CompileContext, name: str) -> tuple[CaseRun, CompileContext]:
    """A run and a context with variables, step ids and controls of its own."""
    branch = run.branch(name)
    branch.accepted = {}
    branch.recent_reads = RecentReads(branch.log)  # nothing else writes at the same time
    return branch, CompileContext(context.document, context.vocabulary, context.place)
