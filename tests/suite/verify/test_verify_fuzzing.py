"""A small share of the fuzzing: whatever the bytes are, nothing is raised, and nothing is accepted that was changed."""

from __future__ import annotations

import json
from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_evidence import AT, Made

from conformance.verify import Evidence, Observed, Policy, Rule, Verified, verify, verify_quote

MADE = Made()
HONEST = MADE.evidence()
POLICY = MADE.policy()
QUOTE, COLLATERAL = MADE.quote(), HONEST["collateral.json"]
SIGNED = 632
FILES = [name for name in HONEST if name != "root.pem"]
FEW = settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))


def check(verified: Verified) -> None:
    """It came to a verdict of its own."""
    assert "verifier-fault" not in verified.codes, verified.findings
    json.loads(verified.as_json())


@st.composite
def mutated(draw: st.DrawFn, body: bytes) -> bytes:
    """Bytes changed, cut out, put in, or repeated in a few places."""
    changed = bytearray(body)
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, max(len(changed) - 1, 0)))
        size = draw(st.integers(0, 8))
        match draw(st.sampled_from(["flip", "cut", "insert", "repeat", "truncate"])):
            case "flip" if changed:
                changed[place] ^= draw(st.integers(1, 255))
            case "cut":
                del changed[place : place + size]
            case "insert":
                changed[place:place] = draw(st.binary(min_size=1, max_size=8))
            case "repeat":
                changed[place:place] = changed[place : place + size]
            case "truncate":
                del changed[place:]
    return bytes(changed)


@FEW
@given(st.data())
def test_mutated_file_raises_nothing(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(FILES))
    check(verify(HONEST.with_file(name, data.draw(mutated(HONEST[name]))), POLICY))


@FEW
@given(st.data())
def test_mutated_signed_bytes_are_never_accepted(data: st.DataObject) -> None:
    start = data.draw(mutated(QUOTE[:SIGNED]))
    changed = start + QUOTE[SIGNED:]
    verified = verify_quote(changed, COLLATERAL, replace(POLICY, at=AT))
    check(verified)
    assert not verified.accepted or changed[: len(QUOTE)] == QUOTE


@FEW
@given(st.data())
def test_mutated_quote_keeps_its_signed_bytes_where_accepted(data: st.DataObject) -> None:
    changed = data.draw(mutated(QUOTE))
    verified = verify_quote(changed, COLLATERAL, replace(POLICY, at=AT))
    check(verified)
    assert not verified.accepted or changed[:SIGNED] == QUOTE[:SIGNED]


@FEW
@given(st.data())
def test_mutated_collateral_is_never_accepted_with_other_signed_text(data: st.DataObject) -> None:
    changed = data.draw(mutated(COLLATERAL))
    verified = verify_quote(QUOTE, changed, replace(POLICY, at=AT))
    check(verified)
    if verified.accepted:
        honest, other = json.loads(COLLATERAL), json.loads(changed)
        assert all(honest[name] == other[name] for name in ("tcb_info", "qe_identity"))
        assert all(honest[name].lower() == other[name].lower() for name in ("root_ca_crl", "pck_crl"))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)
BODIES = st.binary(max_size=200) | JSON.map(lambda value: json.dumps(value).encode())


@FEW
@given(st.dictionaries(st.sampled_from(list(HONEST)), BODIES))
def test_arbitrary_bodies_raise_nothing(files: dict[str, bytes]) -> None:
    verified = verify(Evidence(dict(HONEST) | files), POLICY)
    check(verified)
    assert not verified.accepted or not set(files) - {"root.pem", "api-certificate.der"}


@FEW
@given(st.data())
def test_arbitrary_members_raise_nothing(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from([name for name in FILES if name.endswith(".json")]))
    document = json.loads(HONEST[name])
    member = data.draw(st.sampled_from(sorted(document)))
    document[member] = data.draw(JSON)
    check(verify(HONEST.with_file(name, json.dumps(document).encode()), POLICY))


@FEW
@given(st.binary(max_size=300), st.none() | st.integers(), st.none() | st.binary(max_size=50))
def test_arbitrary_policy_raises_nothing(quote: bytes, at: int | None, root: bytes | None) -> None:
    check(verify_quote(quote, COLLATERAL, Policy(at=at, root=root)))
    check(verify(HONEST, Policy(at=at, root=root, expected_compose=quote)))


@FEW
@given(st.sets(st.sampled_from(list(Rule))), st.text(), st.integers(), st.text())
def test_arbitrary_observations_raise_nothing(rules: set[Rule], url: str, at: int, domain: str) -> None:
    try:
        body = Observed(url, at, domain).as_json()
    except UnicodeEncodeError:
        return
    verified = verify(HONEST.with_file("observed.json", body), POLICY, rules)
    check(verified)
    assert {result.rule for result in verified.rules} == rules
