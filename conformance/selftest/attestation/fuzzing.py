"""A fuzzing campaign against the attestation verifier: seeded mutations of every input, and what must hold for each.

The verifier raises nothing and never blames itself (`verifier-fault`); it never disagrees with the quote library
(`readings-differ`); and what it accepts differs from sound input in nothing that is signed, measured or bound.

    python -m conformance.selftest.attestation.fuzzing --inputs 200000 --seed 0
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import hypothesis
from hypothesis import HealthCheck
from hypothesis import strategies as st

from conformance.selftest.attestation.fuzzer import Fuzzer, Tried

NEVER = frozenset({"verifier-fault", "readings-differ"})
"""Codes of findings that no input may bring about."""
QUICK = frozenset(
    {
        "quote: bytes",
        "quote: lengths and types",
        "quote: PEM of the chain",
        "collateral: bytes",
        "collateral: members",
        "CAA records",
        "compose file",
    }
)
"""Targets that sign nothing anew: four of their inputs take no longer than one of the others."""


@dataclass
class Figures:
    """What a campaign found."""

    inputs: Counter[str] = field(default_factory=Counter)
    accepted: Counter[str] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)


def campaign(inputs: int, seed: int) -> Figures:
    """Try this many inputs, a tenth of them of Hypothesis's making; the same seed tries the same."""
    fuzzer, figures = Fuzzer(random.Random(seed)), Figures()  # noqa: S311 - no secret hangs on it
    arbitrary = inputs // 10
    names = [name for name in fuzzer.targets for _ in range(4 if name in QUICK else 1)]
    for number in range(inputs - arbitrary):
        name = names[number % len(names)]
        _count(figures, name, number, fuzzer.targets[name])
    _arbitrary(fuzzer, figures, arbitrary, seed)
    return figures


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)


def _arbitrary(fuzzer: Fuzzer, figures: Figures, inputs: int, seed: int) -> None:
    """Bodies and members that Hypothesis makes up."""
    names = [name for name in fuzzer.bodies if name != "root.pem"]
    documents = {name: json.loads(fuzzer.bodies[name]) for name in names if name.endswith(".json")}
    members = [(name, member) for name, document in documents.items() for member in document]

    @hypothesis.seed(seed)
    @hypothesis.settings(max_examples=inputs, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @hypothesis.given(st.sampled_from(names), st.binary(max_size=200), st.sampled_from(members), _JSON, st.booleans())
    def tried(name: str, body: bytes, place: tuple[str, str], value: object, whole: bool) -> None:
        if not whole:
            name, member = place
            body = json.dumps(documents[name] | {member: value}).encode()
        number = figures.inputs["arbitrary bodies and members"]
        if number < inputs:
            _count(figures, "arbitrary bodies and members", number, lambda: fuzzer.body(name, body))

    if inputs:
        tried()


def _count(figures: Figures, name: str, number: int, target: Callable[[], Tried]) -> None:
    figures.inputs[name] += 1
    try:
        tried = target()
    except Exception as problem:  # noqa: BLE001 - whatever leaves the verifier is what is looked for
        figures.failures.append(f"{name}, input {number}: {problem!r}")
        return
    figures.accepted[name] += tried.verified.accepted
    figures.codes.update(tried.verified.codes)
    faults = [*([tried.fault] if tried.fault else []), *sorted(tried.verified.codes & NEVER)]
    for fault in faults:
        told = [finding.compared for finding in tried.verified.findings if finding.code in NEVER]
        figures.failures.append(f"{name}, input {number}: {fault} {told or ''} {str(tried.shown)[:4000]!r}")


def main() -> int:
    """Run a campaign and print its figures; 1 if something must not be."""
    parser = argparse.ArgumentParser(prog="python -m conformance.selftest.attestation.fuzzing")
    parser.add_argument("--inputs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    began = time.monotonic()
    figures = campaign(options.inputs, options.seed)
    for name, count in figures.inputs.items():
        print(f"{count:>8,} inputs  {figures.accepted[name]:>7,} accepted  {name}")
    accepted, seconds = sum(figures.accepted.values()), time.monotonic() - began
    print(f"{sum(figures.inputs.values()):>8,} inputs  {accepted:>7,} accepted  in {seconds:.0f} s")
    print(f"{len(figures.codes)} codes: {', '.join(f'{code} {count}' for code, count in figures.codes.most_common())}")
    for failure in figures.failures:
        print(failure)
    print(f"{len(figures.failures)} failures")
    return 1 if figures.failures else 0


if __name__ == "__main__":
    sys.exit(main())
