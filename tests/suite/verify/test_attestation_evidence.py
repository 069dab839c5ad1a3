"""How the driver `attestation` fetches the evidence: once, again if it is renewed meanwhile, paced, and shown."""

from __future__ import annotations

import itertools
import sys
import threading
import warnings
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from time import sleep
from types import SimpleNamespace

import pytest
from made_evidence import AT, HONEST, MADE, POLICY, credentials, der, in_json, renewed
from served_evidence import Service, serving, serving_chain

from conformance.drivers.attestation.connections import strangers
from conformance.drivers.attestation.driver import Judge
from conformance.drivers.attestation.evidence import Fetched, NoEvidence, address_of, fetched
from conformance.drivers.attestation.form import RuleName
from conformance.drivers.attestation.judgements import JUDGEMENTS
from conformance.drivers.attestation.reading import TextReading
from conformance.endpoints.client import Target
from conformance.endpoints.log import ExchangeLog
from conformance.endpoints.pace import Pace
from conformance.endpoints.redaction import Secrets
from conformance.problems import Mismatch
from conformance.profile import Profile
from conformance.profile.attestation import AttestationForms
from conformance.selftest.tools.serving import target_node
from conformance.verify import Evidence
from conformance.verify.certificates import read_certificate
from conformance.verify.evidence import ACME_ACCOUNT, CHECKSUMS, LISTING
from conformance.verify.transport import Transport

SUMS = f"/{CHECKSUMS}"
THREADS = 8


class Renewing(Service):
    """Renews its certificate whenever its checksums were asked for."""

    def answer(self, path: str) -> tuple[int, Mapping[str, str], bytes]:
        given = super().answer(path)
        if path == SUMS:
            self.evidence = renewed(self.requests.count(SUMS))
        return given


@pytest.fixture(autouse=True)
def when_it_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every look is at the time of the evidence, and the second follows at once."""
    monkeypatch.setattr("conformance.verify.fetching.time", SimpleNamespace(time=lambda: AT, sleep=sleep))
    monkeypatch.setattr("conformance.drivers.attestation.evidence.RENEWAL_SECONDS", 0.0)


def respaced(pccs: Service) -> Service:
    """Change the text of a document that is signed, and not what it says."""
    path = "/tdx/certification/v4/tcb"
    status, headers, body = pccs.answers[path]
    pccs.answers[path] = (status, headers, body.replace(b'"tcbInfo":{', b'"tcbInfo":{ '))
    return pccs


class CountingPace(Pace):
    """A pace that counts."""

    def __init__(self) -> None:
        super().__init__(None)
        self.waits = 0

    def take(self) -> float:
        self.waits += 1
        return 0.0


def target_of(service: Service, pccs: Service, pace: Pace | None = None, rpc_url: str | None = None) -> Target:
    needs_chain = () if rpc_url is None else ("app_authorisation_contract", "chain_rpc")
    profile = {
        "capabilities": ("attestation", *needs_chain),
        "chain": {"rpc_url": rpc_url},
        "attestation": {"root_certificate": MADE.platform.root_pem, "pccs_url": pccs.url},
    }
    return Target(service.url, Profile.model_validate(profile), pace=pace)


def log() -> ExchangeLog:
    return ExchangeLog(Secrets())


def judge(got: Fetched, rule: RuleName, requirement: str, shown: ExchangeLog) -> None:
    Judge(got, "it holds", frozenset({requirement}), [requirement], shown).judge([rule])


def test_certificate_renewed_for_ever_is_judged_again_once_and_then_told(pccs: Service) -> None:
    with serving(Renewing(renewed(0))) as service, target_of(service, pccs) as target:
        with pytest.raises(Mismatch, match="everything was fetched twice"):
            judge(fetched(target, log()), "checksum-binding", "ATT-170", log())
        assert service.requests.count("/info") == 2


def test_evidence_that_stays_wrong_is_fetched_twice_for_all_cases(pccs: Service) -> None:
    stale = HONEST.with_file(CHECKSUMS, renewed(1)[CHECKSUMS])
    with serving(Service(stale)) as service, target_of(service, pccs) as target:
        for _ in range(3):
            with pytest.raises(Mismatch):
                judge(fetched(target, log()), "checksum-binding", "ATT-170", log())
        assert service.requests.count("/info") == 2


def test_evidence_is_fetched_once_for_threads_that_ask_at_once(service: Service, pccs: Service) -> None:
    start = threading.Barrier(THREADS)

    def ask(target: Target) -> Fetched:
        start.wait()
        return fetched(target, log())

    with target_of(service, pccs) as target, ThreadPoolExecutor(THREADS) as pool:
        got = [*pool.map(ask, [target] * THREADS)]
    assert all(one is got[0] for one in got)
    assert service.requests.count("/info") == 1


def test_requests_for_evidence_keep_the_rate_and_count_for_the_case_that_came_first(
    service: Service, pccs: Service
) -> None:
    pace, first = CountingPace(), log()
    with (
        serving_chain(itertools.repeat("0x01")) as chain,
        target_of(service, pccs, pace, chain.url) as target,
    ):
        got = fetched(target, first)
    assert len(chain.requests) == 2, "the contract and its code"
    assert pace.waits == len(service.requests) + len(chain.requests) == first.sent == len(got.exchanges)


def certificate_of(target: Target) -> bytes:
    with Transport(address_of(target)) as transport:
        return transport.get(SUMS).certificate or b""


def test_machines_with_evidence_of_their_own_certificates_are_no_strangers() -> None:
    with target_node(lambda _: None, "0") as one, target_node(lambda _: None, "1") as other:
        assert certificate_of(one) != certificate_of(other)
        in_turn = itertools.cycle(map(address_of, (one, other)))
        assert strangers(lambda: Transport(next(in_turn)), one.profile, log(), {certificate_of(one)}) == []


def test_collateral_of_somebody_else_that_is_not_genuine_does_not_charge_the_node(
    service: Service, pccs: Service
) -> None:
    with target_of(service, respaced(pccs)) as target:
        got = fetched(target, log())
        with pytest.raises(NoEvidence, match=r"proves nothing: .*tcb_info"):
            judge(got, "quotes", "ATT-140", log())
        judge(got, "checksum-binding", "ATT-170", log())


@pytest.mark.parametrize(
    ("changed", "rule", "requirement", "path"),
    [
        (in_json(HONEST, "info.json", compose_hash="00" * 32), "compose-hash", "ATT-150", "/info"),
        (in_json(HONEST, "attestation.json", quote="00"), "quote", "ATT-050", "/attestation"),
        (HONEST.with_file(ACME_ACCOUNT, b"{}"), "acme-account", "ATT-100", f"/{ACME_ACCOUNT}"),
        (HONEST.with_file(CHECKSUMS, None), "checksum-file", "ATT-080", SUMS),
        (HONEST.with_file(LISTING, None), "listing", "ATT-070", "/evidences/"),
    ],
)
def test_failure_shows_the_exchange_that_brought_the_fault(
    pccs: Service, changed: Evidence, rule: RuleName, requirement: str, path: str
) -> None:
    own = log()
    with serving(Service(changed)) as service, target_of(service, pccs) as target:
        with pytest.raises(Mismatch) as caught:
            judge(fetched(target, log()), rule, requirement, own)
        assert caught.value.exchange is not None
        shown = own.redacted(caught.value.exchange)
        assert (shown.method, shown.url) == ("GET", f"{service.url}{path}")
        assert own.sent == 0, "another case has sent it"


def test_contract_that_does_not_allow_the_hash_is_shown_by_the_call_of_it(service: Service, pccs: Service) -> None:
    own = log()
    with (
        serving_chain(itertools.repeat(f"0x{0:064x}")) as chain,
        target_of(service, pccs, rpc_url=chain.url) as target,
        pytest.raises(Mismatch) as caught,
    ):
        judge(fetched(target, log()), "authorisation", "ATT-260", own)
    assert caught.value.exchange is not None
    body = own.redacted(caught.value.exchange).request_body
    assert body is not None
    assert MADE.who.compose_hash.hex() in body


def test_one_reading_judged_by_threads_at_once_gives_what_one_thread_finds() -> None:
    evidence = in_json(HONEST, "info.json", compose_hash="00" * 32)
    expected = [found(reading(evidence), rule) for rule in JUDGEMENTS]
    start = threading.Barrier(THREADS)

    def all_rules(shared: TextReading) -> list[str]:
        start.wait()
        return [found(shared, rule) for rule in JUDGEMENTS]

    for _ in range(5):
        shared = reading(evidence)
        with ThreadPoolExecutor(THREADS) as pool:
            assert [*pool.map(all_rules, [shared] * THREADS)] == [expected] * THREADS


def reading(evidence: Evidence) -> TextReading:
    return TextReading(evidence, POLICY, AttestationForms(), True)


def found(shared: TextReading, rule: RuleName) -> str:
    try:
        judge(Fetched(shared), rule, "ATT-150", log())
    except Exception as problem:  # noqa: BLE001 - what one thread finds is compared with what several do
        return repr(problem)
    return "it holds"


def test_certificates_read_by_threads_at_once_leave_the_filters_of_warnings_alone() -> None:
    certificates = [der(credentials(renewals).chain) for renewals in range(60)]
    before, interval = list(warnings.filters), sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(10):
            read_certificate.cache_clear()
            with ThreadPoolExecutor(THREADS) as pool:
                assert len({one.serial for one in pool.map(read_certificate, certificates)}) == len(certificates)
    finally:
        sys.setswitchinterval(interval)
    assert warnings.filters == before
