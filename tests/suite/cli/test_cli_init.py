"""``service-conformance init``."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from command_line import exit_code
from tiny_node import DROP, Asked, TinyNode, Told, always

from conformance.cli import main
from conformance.profile import load_profile
from conformance.survey.notes import Notes


def test_init_writes_a_profile_and_asks_without_writing(
    node: TinyNode, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "node.yaml"
    node.faults["new_account"] = always(405)

    assert main(["init", node.url, "-o", str(path)]) == 0

    assert load_profile(path).base_url == node.url
    assert "keys seen" in capsys.readouterr().out
    posts = [asked.path for asked in node.asked if asked.method != "GET" and asked.key]
    assert posts == [], "nothing is sent with a key"


def test_init_does_not_state_what_an_answer_leaves_open(node: TinyNode, capsys: pytest.CaptureFixture[str]) -> None:
    node.faults["create_wallet"] = always(404)
    node.faults["openapi.json"] = always(404)

    assert main(["init", node.url]) == 0

    text = capsys.readouterr().out
    assert "\n      create_wallet:" not in text
    assert "# wire.operations.method_and_path.create_wallet? [POST /create_wallet]" in text
    assert "#   POST create_wallet answers 404" in text.replace("/create_wallet answers", "create_wallet answers")


def test_init_tells_on_the_terminal_that_no_account_could_be_made(
    node: TinyNode, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    node.faults["new_account"] = always(422, {"title": "a foreign name is missing"})

    assert main(["init", node.url, "--try", "-o", str(tmp_path / "node.yaml")]) == 0

    told = capsys.readouterr().err
    assert "no account could be made with the usual names" in told
    assert "--try --key VARIABLE" in told


def test_init_writes_what_it_has_seen_where_a_connection_breaks(
    node: TinyNode, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    node.groups["a key"] = []
    monkeypatch.setenv("MY_KEY", "a key")
    node.faults["billing/balance"] = node.faults["remove_group"] = always(DROP)

    assert main(["init", node.url, "--key", "MY_KEY", "-o", str(tmp_path / "node.yaml")]) == 0

    told = capsys.readouterr().err
    assert re.search("^service-conformance: .*balance.*: not looked at to the end", told, re.MULTILINE)
    assert "begin again with it (--profile)" in told
    text = (tmp_path / "node.yaml").read_text(encoding="utf-8")
    assert re.search("^ +group_name: group_name", text, re.MULTILINE)
    assert node.paths().count("remove_group") >= len(node.groups["a key"]) > 1


def test_profile_holds_no_key_that_the_node_gives_its_members_as_a_name(
    node: TinyNode, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "a-key-that-the-user-has-bought-credit-for"
    node.groups[key] = []
    monkeypatch.setenv("MY_KEY", key)
    path = tmp_path / "node.yaml"

    def added(asked: Asked) -> Told:
        return Told(400) if asked.text == "{" else node.honest(asked)

    def renamed(asked: Asked) -> Told:
        asked.query = {"page_number": "0", "page_size": "10"} | asked.query
        told = node.honest(asked)
        items = told.body if isinstance(told.body, list) else []
        return Told(told.status, [{"id": item["id"], asked.key: item["name"]} for item in items] or told.body)

    node.faults |= {
        "add_group": added,
        "list_groups": renamed,
        "list_api_keys": always(404),
        "add_usage_api_key": always(404),
    }

    assert main(["init", node.url, "--key", "MY_KEY", "-o", str(path)]) == 0

    assert key not in path.read_text()
    assert re.fullmatch(r"\$API_KEY_\d+", str(load_profile(path).wire.list_groups.item_fields.name))


def test_init_tries_few_of_the_operations_that_a_description_offers_for_one(node: TinyNode, tmp_path: Path) -> None:
    paths = [f"/core/v1/get_word{number}_action_ipfs_id" for number in range(200)]
    paths += [f"/core/v1/mint_wallet_{number}" for number in range(200)]
    document = {"openapi": "3.1.0", "paths": {path: {"post": {}} for path in paths}}
    node.faults["openapi.json"] = always(200, document)
    path = tmp_path / "node.yaml"

    assert main(["init", node.url, "-o", str(path)]) == 0

    tried = [asked for asked in node.paths() if re.search(r"word\d|mint_wallet_", asked)]
    assert len(tried) == 20
    assert "openapi.json describes it 200 times" in path.read_text()


STATED = """\
base_url: http://elsewhere.example
brand: {slug: harbor}
errors: {status_codes: {unauthenticated: [498]}}
limits: {rate: 7}
"""


def test_init_keeps_what_a_partial_profile_states(
    node: TinyNode, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "partial.yaml").write_text(STATED, encoding="utf-8")
    path = tmp_path / "node.yaml"

    assert main(["init", node.url, "--profile", str(tmp_path / "partial.yaml"), "-o", str(path)]) == 0

    profile = load_profile(path)
    assert (profile.base_url, profile.brand.slug, profile.limits.rate) == (node.url, "harbor", 7)
    assert profile.errors.status_codes.unauthenticated == (498,)
    assert "errors.body_shape.media_type" not in profile.assumed, "the rest is observed"
    assert "unauthenticated: [498]  # stated; the node shows [401]: list_groups without a key" in path.read_text()
    printed = capsys.readouterr()
    assert "keys seen, 3 stated" in printed.out
    assert printed.err.endswith("partial.yaml states: errors.status_codes.unauthenticated\n")
    assert "get_harbor_action_ipfs_id" in node.paths()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["init"], "the following arguments are required: URL"),
        (["init", "http://127.0.0.1:9"], "http://127.0.0.1:9: the node cannot be reached"),
        (["init", "http://127.0.0.1:9", "--key", "NO_SUCH_KEY"], "the variable NO_SUCH_KEY holds no key"),
        (["init", "http://127.0.0.1:9", "--profile", "absent.yaml"], "absent.yaml: cannot be read"),
        (["init", "http://127.0.0.1:9", "-o", "there.yaml"], "there.yaml is there already"),
    ],
)
def test_init_that_cannot_begin_says_so_in_one_line(
    arguments: list[str],
    said: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    (tmp_path / "there.yaml").touch()
    assert exit_code(arguments) == 2
    printed = capsys.readouterr()
    assert said in printed.err
    assert (printed.err.count("\n"), printed.out) == (1, "")


def test_no_answer_names_a_command_for_the_suite_to_run() -> None:
    with pytest.raises(ValueError, match=r"no answer of a node may set restart\.command"):
        Notes().see("restart.command", ["sh", "-c", "id"], "an answer")
