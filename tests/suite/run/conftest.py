"""Packs written on the spot, run against a tiny node."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from textwrap import dedent, indent

import pytest
from tiny_node import TinyNode

from conformance.endpoints.patience import Patience
from conformance.profile import Profile
from conformance.run.loader import load_pack
from conformance.run.runner import Case, Target, run_case
from conformance.verdict import Outcome

HEAD = """\
pack: trial
title: A trial
cases:
  - id: one
    title: The one case
    requirements: [GRP-010]
"""
PYTHON_HEAD = """\
from __future__ import annotations

from conformance.cases import Judge, case
from conformance.service.accounts import Accounts
from conformance.service.groups import Groups
from conformance.service.node import Node
"""


@pytest.fixture
def patience() -> float | None:
    """How long the suite waits for an answer, in seconds; None: as long as it usually does."""
    return None


@pytest.fixture
def target(node: TinyNode, patience: float | None) -> Iterator[Target]:
    with Target(node.url, Profile(), seed="7", patience=Patience(patience)) as made:
        yield made


@pytest.fixture
def cases_of(tmp_path: Path) -> Callable[[str], list[Case]]:
    """Load a pack whose one case has this body, with requirements of its own where it begins with them."""

    def load(body: str) -> list[Case]:
        path = tmp_path / "trial.yaml"
        head = HEAD.partition("    requirements:")[0] if body.lstrip().startswith("requirements:") else HEAD
        path.write_text(head + indent(dedent(body), "    "), encoding="utf-8")
        return load_pack(path)

    return load


@pytest.fixture
def run(cases_of: Callable[[str], list[Case]], target: Target) -> Callable[[str], Outcome]:
    """Run the one case that has this body against the tiny node."""

    def run_one(body: str) -> Outcome:
        (case,) = cases_of(body)
        return run_case(case, target)

    return run_one


@pytest.fixture
def python_pack(tmp_path: Path) -> Callable[[str], Path]:
    """Write a pack in Python that has these lines below the usual imports."""

    def write(text: str) -> Path:
        path = tmp_path / "mine.py"
        path.write_text(PYTHON_HEAD + dedent(text), encoding="utf-8")
        return path

    return write


@pytest.fixture
def run_python(python_pack: Callable[[str], Path], target: Target) -> Callable[[str], Outcome]:
    """Run the only case of a pack in Python that has these lines."""

    def run_one(text: str) -> Outcome:
        (case,) = load_pack(python_pack(text))
        return run_case(case, target)

    return run_one


@pytest.fixture
def run_stating(
    cases_of: Callable[[str], list[Case]], node: TinyNode
) -> Callable[[str, Mapping[str, object]], Outcome]:
    """Run the one case that has this body against the tiny node, of which a profile states these keys."""

    def run_one(body: str, stated: Mapping[str, object]) -> Outcome:
        (case,) = cases_of(body)
        with Target(node.url, Profile.model_validate(stated), seed="7") as target:
            return run_case(case, target)

    return run_one
