"""Checks everything that a run needs by the profile's capabilities: paths, clock, ether, payments and resolver."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from shutil import which
from urllib.parse import urlsplit

from conformance.doctor.finding import Finding, State, of_problem
from conformance.doctor.first import CODE, NOT_SERVED, ask, first_look
from conformance.doctor.signing_clock import DOUBTFUL_SECONDS, signing_clock
from conformance.endpoints.client import Target
from conformance.endpoints.control import control_headers
from conformance.endpoints.funding import KeyFunder, funder_of
from conformance.endpoints.messages import Message
from conformance.endpoints.requests import JSON_TYPE, OutgoingRequest
from conformance.problems import NoFunderKey, ProfileSilent, StepProblem, VerifierNotInstalled, require_verifier
from conformance.profile import OPERATIONS, Auth, Operation, Place
from conformance.profile.operations import ATTESTATION, BILLING, DESIGN_FLOWS
from conformance.service.session import Session
from conformance.transport import forwarder, proxy_for
from conformance.values.addresses import CORE
from conformance.values.http_dates import http_date
from conformance.values.json_values import member, printed

NEEDS = {**dict.fromkeys(ATTESTATION, "attestation"), **dict.fromkeys(BILLING, "billing")}
"""The capability that a profile has to claim before an operation is checked."""
DATE = "Date header"
NOT_PROBED = {"new_account", *DESIGN_FLOWS}
"""Operations that are not called: a call could make something, or needs an id in the path."""
Check = Callable[[Session], Finding | None]


def examine(target: Target) -> Iterator[Finding]:
    """Yield all findings. Makes an account and a group, and removes the group; mints wallets of nobody."""
    for finding in first_look(target):
        yield finding
        if finding.ends_run:
            return
    session = Session(target, "doctor::everything")
    for name, check in CHECKS.items():
        try:
            result = check(session)
        except StepProblem as problem:
            result = of_problem(name, problem, session.log)
        if result:
            yield result.hidden_by(session.secrets.hide)


def _paths(session: Session) -> Finding:
    """Request every path that the profile claims, without a key and without members."""
    missing: list[str] = []
    asked = 0
    for name in OPERATIONS:
        operation = _claimed(session, name)
        if operation is None:
            continue
        asked += 1
        body = None if operation.method == "GET" else f'"{CODE}"' if operation.place is Place.STRING else "{}"
        status = session.send(OutgoingRequest(operation, body=body, headers=_headers(body))).status
        if status in NOT_SERVED or (status >= 500 and operation.auth is not Auth.NONE):
            missing.append(f"{operation.method} {operation.path} ({status})")
    if not missing:
        return Finding("paths", State.WELL, f"all {asked} answer")
    mend = "see wire.operations.method_and_path, brand.slug and capabilities of the profile; other paths are demanded"
    return Finding("paths", State.WRONG, f"{len(missing)} of {asked} are not there: {', '.join(missing)}", mend)


def _claimed(session: Session, name: str) -> Operation | None:
    if name in NOT_PROBED or not session.profile.offers(NEEDS.get(name, "http")):
        return None
    if name in {"openapi", "swagger_ui"} and not session.profile.offers("openapi"):
        return None
    try:
        return session.target.operation(name)
    except ProfileSilent:
        return None


def _headers(body: str | None) -> dict[str, str | None]:
    return {} if body is None else {"Content-Type": JSON_TYPE}


def _date(session: Session) -> Finding:
    """Compare the header Date (RFC 9110, 6.6.1), which a proxy may write, with this machine's clock."""
    date = ask(session, f"{CORE}/get_node_chain_config").headers.get("date")
    if date is None:
        return Finding(DATE, State.NOT_TRIED, "the node sends no Date")
    try:
        apart = round(http_date(date).timestamp() - time.time())
    except ValueError:
        return Finding(DATE, State.WRONG, f"its Date is no date: {date}")
    if abs(apart) <= DOUBTFUL_SECONDS:
        return Finding(DATE, State.WELL, f"{abs(apart)} s from this machine's")
    mend = "set the clock that writes it: the suite dates signed requests by it"
    return Finding(DATE, State.DOUBTFUL, f"{abs(apart)} s {'ahead of' if apart > 0 else 'behind'} this machine's", mend)


def _transport(session: Session) -> Finding:
    parts = urlsplit(session.target.base_url)
    if parts.scheme == "https":
        return Finding("TLS", State.WELL, "the certificate is trusted")
    if parts.hostname in {"localhost", "127.0.0.1", "::1"}:
        return Finding("TLS", State.WELL, "none, on this machine")
    return Finding("TLS", State.DOUBTFUL, "none: keys travel in clear", "name an https:// address")


def _proxies(session: Session) -> Finding | None:
    """Name the proxies through which the profile's addresses are reached."""
    profile, target = session.profile, session.target
    urls = [target.base_url, profile.chain.rpc_url, profile.control_url]
    urls += [profile.payments.provider_url, profile.attestation.base_url]
    ways = {url: proxy for url in urls if url is not None and (proxy := proxy_for(url))}
    if not ways:
        return None
    # a path may hold a key
    hosts = {urlsplit(url)._replace(path="", query="").geturl().rpartition("@")[2]: way for url, way in ways.items()}
    found = ", ".join(f"{host} {proxy}" for host, proxy in hosts.items())
    if any(map(forwarder, ways)):
        mend = "name an https:// address, or the host in NO_PROXY: a proxy reads plain requests, and may change them"
        return Finding("proxy", State.DOUBTFUL, found, mend)
    return Finding("proxy", State.WELL, found)


def _ether(session: Session) -> Finding | None:
    if not session.profile.offers("funded_wallet"):
        return None
    variable = session.profile.chain.funder_key_variable
    try:
        funder = funder_of(session.profile)
    except NoFunderKey as problem:
        return Finding("ether", State.WRONG, f"{problem.expected}: {problem.got}", problem.hint)
    if not isinstance(funder, KeyFunder):
        return Finding("ether", State.WELL, "from the test control")
    owned = session.chain.balance(funder.address)
    if owned and session.profile.chain.id is None:
        mend = "state chain.id in the profile; else the suite signs for whichever chain the JSON-RPC names"
        return Finding("ether", State.DOUBTFUL, f"{variable} may pay on any chain, and chain.id is not stated", mend)
    if owned:
        return Finding("ether", State.WELL, f"{owned / 10**18:.6f} ether at {funder.address}")
    return Finding("ether", State.WRONG, f"the wallet {funder.address} of {variable} is empty", "send ether to it")


def _control(session: Session) -> Finding | None:
    if not session.profile.offers("clock_control"):
        return None
    url = f"{session.profile.control_url}/clock"
    message = Message("POST", url, control_headers(session.profile), '{"offset_seconds": 0}')
    answer = session.target.exchange(message, session.log)
    if answer.accepted:
        return Finding("clock control", State.WELL, "sets the clock")
    return Finding("clock control", State.WRONG, f"{url}: {answer.summary}", "mend control_url of the profile")


def _restart(session: Session) -> Finding | None:
    """Look for the programs that restart the node, and run none."""
    profile = session.profile
    if not profile.offers("restart"):
        return None
    for command in (profile.restart.command, profile.restart.kill_command):
        name = command[0] if command else ""
        if name and not which(profile.folder / name if "/" in name else name):
            mend = "name a program that can be run, from the profile's folder where it has a slash"
            return Finding("restart", State.WRONG, f"there is no program {name}", mend)
    return Finding("restart", State.WELL, "its programs are there; a run restarts the node, this does not")


def _payments(session: Session) -> Finding | None:
    """Check that the publishable key is one of test mode, and that the payment provider answers."""
    if not session.profile.offers("payment_sandbox"):
        return None
    key = printed(member(session.call("stripe_config").value, "publishable_key"))
    if not key.startswith("pk_test_"):
        mend = "run the node with keys of the provider's test mode; the suite never pays real money"
        return Finding("payments", State.WRONG, f"the publishable key begins with {key[:8]!r}, not 'pk_test_'", mend)
    provider = str(session.profile.payments.provider_url)
    answer = session.target.exchange(Message("GET", f"{provider}/v1/payment_intents", {}, None), session.log)
    state = State.WRONG if answer.status >= 500 else State.WELL
    return Finding("payments", state, f"test mode; {provider} answers with {answer.status}")


def _resolver(session: Session) -> Finding | None:
    if not session.profile.offers("caa_dns"):
        return None
    domain, resolver = session.profile.attestation.gateway_domain, session.profile.attestation.resolver
    if domain is None:
        return Finding("resolver", State.WRONG, "no domain to look up", "write attestation.gateway_domain")
    require_verifier()
    from conformance.verify.dns_lookup import look_up_caa  # noqa: PLC0415 - an extra

    try:
        answer = look_up_caa(domain, resolver)
    except ValueError as problem:
        return Finding("resolver", State.WRONG, str(problem), "mend attestation.resolver of the profile")
    records = f"{len(answer.records)} CAA records of {domain} ({answer.status})"
    if answer.records:
        return Finding("resolver", State.WELL, records)
    return Finding("resolver", State.WRONG, records, "mend attestation.gateway_domain or attestation.resolver")


def _verifier(session: Session) -> Finding | None:
    """Check that what judges attestation is installed: without it, every such case is inconclusive."""
    if not session.profile.offers("attestation"):
        return None
    try:
        require_verifier()
    except VerifierNotInstalled as problem:
        found = f"{problem.cause}: {problem.got}"
        return Finding("verifier", State.WRONG, found, f"{problem.hint}, or leave the capability attestation out")
    return Finding("verifier", State.WELL, "its libraries are installed")


CHECKS: dict[str, Check] = {
    "verifier": _verifier,
    "paths": _paths,
    "TLS": _transport,
    "proxy": _proxies,
    "clock": signing_clock,
    DATE: _date,
    "ether": _ether,
    "clock control": _control,
    "restart": _restart,
    "payments": _payments,
    "resolver": _resolver,
}
