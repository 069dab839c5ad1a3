"""The model of the profile, the files made from it, and its agreement with catalogue and contract."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from without import without

from conformance.profile import Function, Profile, UnknownKey, has_none, known_paths, load_profile, states, value_at
from conformance.profile.publish import REFERENCE_FILE, SCHEMA_FILE, reference_text, schema_text
from conformance.requirements import catalogue

ARTIFACT = Path(__file__).parents[3] / "contracts" / "artifacts" / "AccountConfig.json"


def test_reference_profile_holds_the_defaults() -> None:
    assert load_profile(REFERENCE_FILE) == Profile()


def test_reference_profile_holds_every_key() -> None:
    written: set[str] = set()

    def collect(value: object, prefix: str) -> None:
        for name, inner in value.items() if isinstance(value, dict) else ():
            written.add(prefix + name)
            collect(inner, f"{prefix}{name}.")

    collect(yaml.safe_load(REFERENCE_FILE.read_text(encoding="utf-8")), "")
    assert written == known_paths()


def test_reference_profile_is_made_from_the_model() -> None:
    assert REFERENCE_FILE.read_text(encoding="utf-8") == reference_text()


def test_published_schema_is_made_from_the_model() -> None:
    assert SCHEMA_FILE.read_text(encoding="utf-8") == schema_text()


@pytest.fixture(scope="module")
def schema() -> Draft202012Validator:
    published = json.loads(schema_text())
    Draft202012Validator.check_schema(published)
    return Draft202012Validator(published)


def test_published_schema_accepts_the_reference_profile(schema: Draft202012Validator) -> None:
    schema.validate(yaml.safe_load(reference_text()))


@pytest.mark.parametrize(
    "wrong",
    [
        {"limit": {}},
        {"limits": {"page_size_max": 0}},
        {"wire": {"paging": 3}},
        {"errors": {"body_shape": {"media_type": "text/html"}}},
    ],
)
def test_published_schema_refuses_what_the_loader_refuses(schema: Draft202012Validator, wrong: object) -> None:
    with pytest.raises(ValidationError):
        schema.validate(wrong)


def test_every_silent_statement_has_a_key_whose_default_is_the_reference_choice() -> None:
    keys = {requirement.profile_key for requirement in catalogue().requirements if requirement.profile_key}
    assert keys <= known_paths()
    assert [key for key in keys if not states(Profile(), key)] == []


def test_every_silent_statement_may_be_left_unanswered() -> None:
    whole = {"brand", "wire.operations.method_and_path"}
    keys = {requirement.profile_key for requirement in catalogue().requirements if requirement.profile_key}
    assert [key for key in keys - whole if states(without(key), key)] == []


def test_requirements_named_in_comments_exist() -> None:
    named = set(re.findall(r"\b[A-Z]+-\d{3}\b", reference_text()))
    assert named - set(catalogue().by_id) == {"EIP-191"}
    silent = {one.id for one in catalogue().requirements if one.profile_key and one.id not in named}
    assert silent == {"VER-090"}, "each key names the silent statement that it answers"


def test_value_below_a_null_section_is_null() -> None:
    profile = without("semantics.usage_key_expiration")
    assert not states(profile, "semantics.usage_key_expiration.unit")
    assert states(profile, "semantics.group_id_scope")


@pytest.mark.parametrize(
    ("profile", "path", "none"),
    [
        (without("wire.list_items.fields.wallet.name"), "wire.list_items.fields.wallet.name", True),
        (without("chain.abi.account.can_execute"), "chain.abi.account.can_execute", True),
        (without("wire.list_items.fields"), "wire.list_items.fields.wallet.name", False),
        (without("chain.abi.account"), "chain.abi.account.can_execute", False),
        (without("chain.abi.account"), "chain.abi.account", False),
        (without("semantics.group_id_scope"), "semantics.group_id_scope", False),
        (without("wire.operations.method_and_path.run_action"), "wire.operations.method_and_path", False),
        (Profile(), "wire.list_items.fields.wallet.name", False),
        (Profile(), "base_url", False),
    ],
)
def test_null_in_place_of_a_name_says_that_there_is_none(profile: Profile, path: str, none: bool) -> None:
    assert has_none(profile, path) is none


def test_false_and_zero_are_statements() -> None:
    assert states(Profile(), "semantics.account_wallet_listed")
    assert states(Profile(), "semantics.settle_time_seconds")


@pytest.mark.parametrize("path", ["", "semantic", "semantics.group_id", "limits.rate.x", "__class__", "model_fields"])
def test_unknown_key_is_told(path: str) -> None:
    with pytest.raises(UnknownKey, match=re.escape(repr(path))):
        value_at(Profile(), path)


def test_profile_cannot_change() -> None:
    with pytest.raises(ValueError, match="frozen"):
        Profile().limits.rate = 3


def test_capability_http_is_always_offered() -> None:
    assert Profile().offers("http")
    assert Profile().offers("managed_accounts")
    assert not Profile().offers("billing")


def signatures() -> list[str]:
    chain = Profile().chain.abi
    return [text for part in (chain.account, chain.attach, chain.writes) for _, text in part or () if text]


@pytest.mark.parametrize("signature", signatures(), ids=lambda text: text.partition("(")[0])
def test_default_signature_is_one_of_the_contract(signature: str) -> None:
    abi = json.loads(ARTIFACT.read_text(encoding="utf-8"))["abi"]
    function = Function.parse(signature)
    entry = next(one for one in abi if one["type"] == "function" and one["name"] == function.name)

    def type_of(parameter: dict[str, object]) -> str:
        kind, members = str(parameter["type"]), parameter.get("components")
        if not isinstance(members, list):
            return kind
        return f"({','.join(type_of(member) for member in members)}){kind.removeprefix('tuple')}"

    assert [one.type for one in function.inputs] == [type_of(one) for one in entry["inputs"]]
    assert [one.type for one in function.outputs] == [type_of(one) for one in entry["outputs"]]
    assert [one.name for one in function.inputs] == [one["name"] for one in entry["inputs"]]
    for mine, its in zip(function.outputs, entry["outputs"], strict=True):
        assert [one.name for one in mine.members] == [one["name"] for one in its.get("components", [])]
