"""Whatever a caller states, the verifier comes to a verdict (`tests/attestation/test_fuzzing.py` tries evidence)."""

from __future__ import annotations

import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_evidence import HONEST, POLICY

from conformance.verify import Observed, Policy, Rule, Verified, verify, verify_quote

FEW = settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))


def check(verified: Verified) -> None:
    """It came to a verdict of its own."""
    assert "verifier-fault" not in verified.codes, verified.findings
    json.loads(verified.as_json())


@FEW
@given(st.binary(max_size=300), st.none() | st.integers(), st.none() | st.binary(max_size=50))
def test_arbitrary_policy_raises_nothing(quote: bytes, at: int | None, root: bytes | None) -> None:
    check(verify_quote(quote, HONEST["collateral.json"], Policy(at=at, root=root)))
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
