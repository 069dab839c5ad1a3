"""The first checks, which ``run`` makes, too: the node answers, is this service, and fits its profile.

A finding ends the run only where the answers leave no doubt that no case could judge the node. What may be a fault of
the node is left to the cases.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from conformance.doctor.finding import Finding, State, of_problem
from conformance.endpoints.client import Target
from conformance.endpoints.messages import HTML, OF_GATEWAYS, Answer, Message
from conformance.problems import Inconclusive, OutOfCredit, ServerFault, StepProblem, Unreachable, Untrusted
from conformance.service.accounts import Accounts
from conformance.service.cleanup import clean_up
from conformance.service.groups import Groups
from conformance.service.session import Session
from conformance.values.addresses import CORE
from conformance.values.json_values import member

PROBED = ("get_node_chain_config", "get_api_payers", "list_groups", "openapi.json")
"""Paths that the specification gives. A server with none of them is another service."""
NOT_SERVED = frozenset({404, 405, 501})
REDIRECTS = range(300, 400)
CODE = "async function main() { return 1; }"
OF_BRAND = re.compile(r"/get_([a-z0-9_]+)_action_ipfs_id$")


def first_look(target: Target, *, spends: bool = True) -> Iterator[Finding]:
    """Yield the findings, up to one that ends the run.

    With `spends`, make an account and a group, if the profile states that new accounts have credit.
    """
    session = Session(target, "doctor::first")
    for check in (_address, _brand, _fits, _chain, _credit):
        if check is _credit and not spends:
            continue
        try:
            finding = check(session)
        except StepProblem as problem:
            finding = of_problem(check.__name__.strip("_"), problem, session.log)
        if finding:
            yield finding.hidden_by(session.secrets.hide)
            if finding.ends_run:
                return


def ask(session: Session, path: str) -> Answer:
    """Send a GET without a key."""
    return session.target.exchange(Message("GET", path, {}, None), session.log)


def _address(session: Session) -> Finding:
    """Check that a server answers at the address, and answers as this service does."""
    url = session.target.base_url
    answers: dict[str, Answer] = {}
    silence: ServerFault | None = None
    for name in PROBED:
        try:
            answers[name] = ask(session, f"{CORE}/{name}")
        except ServerFault as problem:
            silence = problem
            continue
        except Inconclusive as problem:
            message = f"{url}: {problem.cause}: {problem.got}"
            return Finding("address", State.WRONG, message, problem.hint, ends_run=True)
        if answers[name].accepted and _is_of_api(answers[name]):
            return Finding("address", State.WELL, f"{url} answers as this service")
    if silence is not None:
        return Finding("address", State.WRONG, f"{url}: {silence.got}", "look at the node's log", ends_run=True)
    if any(map(_is_of_api, answers.values())):
        return Finding(
            "address", State.DOUBTFUL, f"{url} answers {_statuses(answers)}", "is it a node of this service?"
        )
    return _stranger(url, answers)


def _is_of_api(answer: Answer) -> bool:
    served = answer.status not in NOT_SERVED and answer.status < 500 and answer.status not in REDIRECTS
    return served and not HTML.match(answer.text)


def _stranger(url: str, answers: Mapping[str, Answer]) -> Finding:
    first = answers[PROBED[0]]
    if first.status in REDIRECTS:
        place = first.headers.get("location", "nowhere")
        return Finding("address", State.WRONG, f"{url} sends elsewhere: {place}", "name that address", ends_run=True)
    if all(answer.status in OF_GATEWAYS for answer in answers.values()):
        return Finding("address", State.WRONG, f"{url}: {first.summary}", "start the node behind it", ends_run=True)
    mend = f"name the address before {CORE}, of a node of this service"
    return Finding("address", State.WRONG, f"{url} is not this service: {_statuses(answers)}", mend, ends_run=True)


def _statuses(answers: Mapping[str, Answer]) -> str:
    return ", ".join(f"{CORE}/{name} {answer.status}" for name, answer in answers.items())


def _brand(session: Session) -> Finding:
    """Check the profile's brand word by a path that contains it, and by the paths of the node's description."""
    slug = session.profile.brand.slug
    answer = session.send(session.request("get_action_ipfs_id", code=CODE))
    if answer.status not in NOT_SERVED:
        return Finding("brand word", State.WELL, f"{slug!r}: {session.target.operation('get_action_ipfs_id').path}")
    served = described_brands(session)
    if served and slug not in served:
        mend = f"write `brand: {{slug: {served[0]}, title: …}}` into the profile"
        message = f"the profile says {slug!r}, the node's description {served[0]!r}"
        return Finding("brand word", State.WRONG, message, mend, ends_run=True)
    message = f"no {session.target.operation('get_action_ipfs_id').path} (status {answer.status})"
    return Finding("brand word", State.WRONG, message, "write the node's word into brand.slug of the profile")


def described_brands(session: Session) -> list[str]:
    """The brand words in the paths of the node's OpenAPI description; empty where it has none."""
    answer = ask(session, f"{CORE}/openapi.json")
    paths = member(answer.value, "paths") if answer.accepted and answer.readable else None
    matches = [OF_BRAND.search(path) for path in paths] if isinstance(paths, dict) else []
    return [match[1] for match in matches if match]


def _fits(session: Session) -> Finding | None:
    """Check that the profile's requests fit the node's description."""
    from conformance.doctor.described import fits_description  # noqa: PLC0415 - validators of schemas take long to load

    return fits_description(session) if session.profile.offers("openapi") else None


def _chain(session: Session) -> Finding | None:
    """Check that the profile's chain is the node's, by the chain id and the code at the contract's address."""
    if not session.profile.offers("chain_rpc"):
        return None
    config = session.call("get_node_chain_config").value
    stated_id, address = member(config, "chain_id"), member(config, "contract_address")
    rpc_url = session.profile.chain.rpc_url
    try:
        chain_id, code = session.chain.chain_id(), session.chain.code(str(address))
    except (Unreachable, Untrusted) as problem:
        return Finding("chain", State.WRONG, f"{rpc_url}: {problem.got}", "mend chain.rpc_url of the profile")
    has_code = str(code) not in {"0x", "None"}
    if str(stated_id) == str(chain_id) and has_code:
        return Finding("chain", State.WELL, f"id {chain_id}, the contract's code is at {address}")
    if has_code:
        return Finding("chain", State.WRONG, f"the node says chain id {stated_id}, its chain {chain_id}")
    mend = "name in chain.rpc_url the chain that the node uses, or take chain_rpc from the capabilities"
    if str(stated_id) == str(chain_id):
        return Finding("chain", State.WRONG, f"chain {chain_id} has no code at the node's contract {address}", mend)
    message = f"the node is on chain {stated_id}, {rpc_url} is chain {chain_id}, and has nothing at {address}"
    return Finding("chain", State.WRONG, message, mend, ends_run=True)


def _credit(session: Session) -> Finding | None:
    """Check that a new account can pay for a write, as `accounts.credits: granted` states."""
    if not session.profile.offers("managed_accounts") or session.profile.accounts.credits != "granted":
        return None
    try:
        account = Accounts(session).new()
        Groups(session).add(account.key)
    except OutOfCredit as problem:
        mend = "have the node give new accounts credit, or write accounts.credits: bought or null into the profile"
        return Finding("credit", State.WRONG, f"a new account cannot pay: {problem.got}", mend, ends_run=True)
    finally:
        clean_up(session)
    return Finding("credit", State.WELL, "a new account can pay for a write")
