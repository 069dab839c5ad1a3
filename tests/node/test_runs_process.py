"""A node and its sandbox: what it preloads, what actions find, and what keeps it from starting."""

from __future__ import annotations

from pathlib import Path

import pytest
from actions import permitted, ran
from nodes import serving

from reference_node import server
from reference_node.sandbox import Sandbox, SandboxUnavailable
from reference_node.settings import Settings


def test_actions_find_what_was_preloaded_and_can_not_leave_anything_in_it(tmp_path: Path) -> None:
    (tmp_path / "first.js").write_text("globalThis.library = { twice: (n) => 2 * n };")
    (tmp_path / "second.js").write_text("library.thrice = (n) => library.twice(n) + n;")
    libraries = (tmp_path / "first.js", tmp_path / "second.js")
    code = "async function main() { const found = library.thrice(2); library.thrice = null; return found; }"
    with serving(Settings(port=0, starter_credits=100, preload=libraries)) as node:
        mine = permitted(node, code)
        assert [ran(node, mine.key, code) for _ in range(2)] == [6, 6]


def test_actions_go_by_the_title_of_the_brand() -> None:
    code = "async function main() { return [Object.keys(Acme.Actions), typeof Service]; }"
    with serving(Settings(port=0, starter_credits=100, slug="acme", title="Acme")) as node:
        mine = permitted(node, code)
        outcome = node.done("acme_action", mine.key, code=code)
        assert outcome["response"] == [["getPrivateKey", "signMessage", "signDigest"], "undefined"]
        assert node.post("service_action", mine.key, code=code).status_code == 404


def test_node_that_can_not_lock_actions_up_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_: Sandbox) -> None:
        raise SandboxUnavailable("there is no seccomp here")

    monkeypatch.setattr(Sandbox, "start", missing)
    with pytest.raises(server.ServingError, match="there is no seccomp here"):
        server.serve(Settings(port=0))
