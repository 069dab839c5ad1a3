"""Fixtures that the tests of several folders use; `tiny_node` is importable because this file stands beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from tiny_node import TinyNode, tiny_node

from conformance.endpoints.client import Target
from conformance.profile import Profile
from conformance.run.case import Case
from conformance.run.loader import load_pack
from conformance.service import Session


@pytest.fixture
def node() -> Iterator[TinyNode]:
    with tiny_node() as running:
        yield running


@pytest.fixture
def profile() -> Profile:
    """What is stated of the tiny node; a test that needs another one parametrizes it."""
    return Profile()


@pytest.fixture
def target(node: TinyNode, profile: Profile) -> Iterator[Target]:
    with Target(node.url, profile, seed="7") as made:
        yield made


@pytest.fixture
def session(target: Target) -> Session:
    """A case's session with the tiny node."""
    return Session(target, "trial::one")


@pytest.fixture
def only_case(tmp_path: Path) -> Callable[[str], Case]:
    """Loads the only case of a pack, given as text."""

    def load(pack: str) -> Case:
        path = tmp_path / f"{yaml.safe_load(pack)['pack']}.yaml"
        path.write_text(pack, encoding="utf-8")
        (case,) = load_pack(path)
        return case

    return load
