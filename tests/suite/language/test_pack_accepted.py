"""What packs may say."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from conformance.endpoints.client import plain
from conformance.language.scope import Account, Scope
from conformance.language.templates import CompileContext, compile_value
from conformance.language.vocabulary import standard
from conformance.profile import Profile, value_at
from conformance.run.case import Case
from conformance.run.loader import load_pack
from conformance.run.reference import text as reference
from conformance.run.schema import SCHEMA, pack_schema, text
from conformance.values.marked_yaml import Document

DOCS = Path(__file__).parents[3] / "docs" / "packs.md"
HEAD = "pack: trial\ntitle: t\ncases:\n  - id: one\n    title: t\n    requirements: [GRP-010]\n"


def example() -> str:
    return str(re.findall(r"## A whole pack\n\n```yaml\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)[0])


def test_documented_example_loads(tmp_path: Path) -> None:
    path = tmp_path / "my_usage_keys.yaml"
    path.write_text(example(), encoding="utf-8")

    first, second = load_pack(path)

    assert (first.id, first.requirements) == ("my_usage_keys::removed-key-is-refused", ("KEYLIFE-080",))
    assert first.info.needs == {"managed_accounts"}
    assert second.line > first.line


def test_published_schema_is_made_from_the_models() -> None:
    assert SCHEMA.read_text(encoding="utf-8") == text()


def test_reference_is_made_from_models_and_docstrings() -> None:
    assert (DOCS.parent / "pack-reference.md").read_text(encoding="utf-8") == reference()


def test_published_schema_takes_the_example_and_refuses_a_step_of_two_kinds() -> None:
    schema = pack_schema()
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    pack = yaml.safe_load(example())

    assert list(validator.iter_errors(pack)) == []
    pack["cases"][0]["steps"][0]["list"] = "list_groups"
    assert list(validator.iter_errors(pack)) != []


@pytest.mark.parametrize(
    "step",
    [
        "{call: new_account, refused: invalid, control: made, with: {}}",
        "{call: list_groups, as: nobody, refused: unauthenticated, control: listed}",
        "{call: list_groups, as: nobody, refused: [unauthenticated, forbidden], control: paged}",
    ],
    ids=["account as control, no credential", "read without unchanged", "list as control"],
)
def test_refusal_with_enough_proof_loads(only_case: Callable[[str], Case], step: str) -> None:
    steps = ["{account: a, id: made}", "{call: list_groups, id: listed}", "{list: list_groups, id: paged}", step]
    assert only_case(HEAD + "    steps:\n" + "".join(f"      - {one}\n" for one in steps)).id == "trial::one"


def test_timestamps_and_numbers_keep_their_text_and_type(only_case: Callable[[str], Case]) -> None:
    case = only_case(
        f"{HEAD}    each: [{{id: a, when: 2026-01-01, n: 1, f: 1.5, b: true, z: null, t: '1'}}]\n"
        "    steps: [{account: x}, {call: list_groups}]\n"
    )

    values = {name: template(Scope(lambda _: None, {})) for name, template in case.row.items()}

    assert values == {"when": "2026-01-01", "n": 1, "f": 1.5, "b": True, "z": None, "t": "1"}


TEMPLATES = [
    ("plain", "plain"),
    ("${n}", 5),
    ("n is ${n}", "n is 5"),
    ("${list}", [1, {"a": None}]),
    ("${list.1}", {"a": None}),
    ("${list.-1.a}", None),
    ("in ${list}", 'in [1,{"a":null}]'),
    ("${yes}/${n}", "true/5"),
    ("$${n}", "${n}"),
    ("$${n} ${n}", "${n} 5"),
    ("${alice}", "KEY"),
    ("${alice.wallet_address}", "0x1"),
    ({"a": ["${n}", {}]}, {"a": [5, {}]}),
    ("${profile.limits.page_size_max}", 100),
    ("${profile.errors.status_codes.forbidden.0}", 403),
    ("a } b { c", "a } b { c"),
]


@pytest.mark.parametrize(("raw", "value"), TEMPLATES)
def test_variables_keep_type_alone_and_are_printed_in_text(tmp_path: Path, raw: object, value: object) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("a: b", encoding="utf-8")
    variables = {"n": 5, "list": [1, {"a": None}], "yes": True, "alice": Account(api_key="KEY", wallet_address="0x1")}
    scope = Scope(lambda key: plain(value_at(Profile(), key)), dict(variables))

    template = compile_value(raw, CompileContext(Document(path), standard(), names=set(variables)))  # type: ignore[arg-type]

    assert template(scope) == value
    assert type(template(scope)) is type(value)
