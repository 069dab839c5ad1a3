"""``service-conformance verify``: judge the attestation of a service, of saved evidence, or of a quote alone."""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from conformance.commands.attested_files import checked, evidence_in, read
from conformance.ending import print_document
from conformance.problems import Problem
from conformance.report import ExitCode
from conformance.report.write import write_whole
from conformance.run.options import add_option
from conformance.values.addresses import node_address
from conformance.values.shown_text import plain
from conformance.verify import (
    Evidence,
    Expected,
    FetchError,
    KeylessSigner,
    Signer,
    Sources,
    StatementPolicy,
    TcbStatus,
    Verified,
    fetch_and_verify,
    save_folder,
    verify,
    verify_quote,
)
from conformance.verify.certificates import read_root
from conformance.verify.documents import is_time
from conformance.verify.dsse import read_public_key
from conformance.verify.evidence import COLLATERAL, STATEMENT
from conformance.verify.keyless import read_trusted_root, require_library
from conformance.verify.pccs import INTEL_PCS
from conformance.verify.policy_file import PolicyFile, load_measurements, load_policy
from conformance.verify.policy_writing import policy_text
from conformance.verify.strict import hex_bytes
from conformance.verify.terminal import show

_ONLINE = ("pccs", "resolver", "rpc_url", "save")
"""Options that need a service to ask."""


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("url", nargs="?", metavar="URL", help="base URL of a running service")
    parser.add_argument("--evidence", type=Path, metavar="DIR", help="a folder that --save wrote; nothing is fetched")
    parser.add_argument("--quote", type=Path, metavar="FILE", help="a quote alone, in hex; needs --collateral and --at")
    _add_trust(parser.add_argument_group("what is trusted"))
    _add_policy(parser.add_argument_group("what is accepted beside up-to-date production hardware"))
    output = parser.add_argument_group("output")
    output.add_argument("--json", action="store_true", help="the whole result as JSON")
    output.add_argument(
        "--write-policy", type=Path, metavar="FILE", help="write a policy that accepts what is there, for you to read"
    )
    output.add_argument("--save", type=Path, metavar="DIR", help="keep the evidence in a new folder for an auditor")
    parser.set_defaults(handle=_verify)


def _add_trust(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--root", type=Path, metavar="PEM", help="root certificate (default: Intel's SGX root CA)")
    source = group.add_mutually_exclusive_group()
    source.add_argument("--pccs", metavar="URL", help=f"where collateral comes from (default: {INTEL_PCS})")
    source.add_argument("--collateral", type=Path, metavar="FILE", help="collateral, as in a folder's collateral.json")
    group.add_argument(
        "--at", type=_time, metavar="TIME", help="judge for this time, as 2026-11-22T12:00:00Z or Unix seconds"
    )
    group.add_argument("--resolver", metavar="HOST:PORT", help="DNS resolver for CAA records (default: the system's)")
    group.add_argument("--rpc-url", metavar="URL", help="JSON-RPC of the chain of the authorisation contract (rule 8)")
    add_option(group.add_argument, "ca_file")


def _add_policy(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--policy", type=Path, metavar="FILE", help="all that is accepted, in YAML; other options win")
    group.add_argument(
        "--measurements", type=Path, metavar="FILE", help="demand one of these boots, as dstack-mr prints them"
    )
    group.add_argument(
        "--statement", type=Path, metavar="FILE", help="demand the code that this statement of a verdict is about"
    )
    group.add_argument(
        "--signer",
        type=Path,
        action="append",
        default=[],
        metavar="PEM",
        help="public key whose statements are believed (repeatable)",
    )
    group.add_argument(
        "--certificate-identity",
        metavar="IDENTITY",
        help="whose Sigstore bundles are believed: an e-mail address, or the URI of a workflow",
    )
    group.add_argument(
        "--certificate-oidc-issuer", metavar="URL", help="the OpenID Connect issuer that vouches for the identity"
    )
    group.add_argument(
        "--trusted-root",
        type=Path,
        metavar="FILE",
        help="Sigstore's trusted_root.json (default: the public instance's, as its library has it)",
    )
    group.add_argument("--expect-compose", type=Path, metavar="FILE", help="demand exactly this compose file")
    statuses = [status.value for status in TcbStatus if status is not TcbStatus.UP_TO_DATE]
    group.add_argument(
        "--accept",
        action="append",
        default=[],
        choices=statuses,
        metavar="STATUS",
        help=f"one of {', '.join(statuses)}",
    )
    group.add_argument("--allow-ve-injection", action="store_true", help="accept a TD without SEPT_VE_DISABLE")
    group.add_argument("--allow-debug", action="store_true", help="accept a debug TD, whose memory the host can read")
    group.add_argument(
        "--allow-other-accounts", action="store_true", help="accept CAA records of further ACME accounts"
    )


def _time(text: str) -> int:
    try:
        if text.isdecimal():
            seconds = int(text)
        else:
            moment = datetime.fromisoformat(text)
            seconds = int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
    except ValueError:
        seconds = -1
    if not is_time(seconds):
        raise argparse.ArgumentTypeError(f"{text!r} is no time; write it as 2026-11-22T12:00:00Z or in Unix seconds")
    return seconds


def _verify(arguments: argparse.Namespace) -> int:
    try:
        _check(arguments)
        judged = _judge(arguments)
        if arguments.write_policy is not None:
            _write_policy(arguments.write_policy, judged)
    except (Problem, FetchError, ValueError) as problem:
        print(f"service-conformance verify: {plain(str(problem))}", file=sys.stderr)
        return ExitCode.USAGE
    verified = judged.verified
    if arguments.json:
        print_document(verified.as_json())
    else:
        show(verified, judged.what)
        if arguments.save:
            print(f"Evidence saved in {arguments.save}")
        if arguments.write_policy and verified.accepted:
            print(f"Policy written to {arguments.write_policy}; compare its values before you rely on it")
        elif arguments.write_policy:
            print("No policy is written of what is refused")
    return 0 if verified.accepted else ExitCode.FAILS


def _check(arguments: argparse.Namespace) -> None:
    """One thing to judge, and only options that fit it."""
    if sum(thing is not None for thing in (arguments.url, arguments.evidence, arguments.quote)) != 1:
        raise Problem("name one thing to judge: a URL, --evidence DIR or --quote FILE")
    if arguments.url is None:
        for name in _ONLINE:
            if getattr(arguments, name) is not None:
                raise Problem(f"--{name.replace('_', '-')} needs a URL: nothing is fetched otherwise")
    if arguments.quote is not None and (arguments.collateral is None or arguments.at is None):
        raise Problem("--quote needs --collateral FILE and --at TIME: a quote alone has neither")
    if arguments.quote is not None and arguments.write_policy is not None:
        raise Problem("--write-policy needs a URL or --evidence: a quote alone says too little")
    if arguments.write_policy is not None and arguments.write_policy.exists():
        raise Problem(f"--write-policy {arguments.write_policy}: is there already; name a new file")
    if arguments.save is not None and arguments.save.exists() and _holds_something(arguments.save):
        raise Problem(f"--save {arguments.save}: is not empty; name a new folder")


def _holds_something(folder: Path) -> bool:
    try:
        return any(folder.iterdir())
    except OSError as problem:
        raise Problem(f"--save {folder}: cannot be written: {problem.strerror}") from problem


@dataclass(frozen=True)
class _Judged:
    """A verdict, and what it is about."""

    what: str
    verified: Verified
    settings: PolicyFile
    evidence: Evidence | None = None


def _settings(arguments: argparse.Namespace) -> PolicyFile:
    """What the policy says, and in place of it what an option of the command line says of the same thing."""
    settings = load_policy(arguments.policy) if arguments.policy is not None else PolicyFile()
    statuses = frozenset({TcbStatus.UP_TO_DATE, *map(TcbStatus, arguments.accept)}) if arguments.accept else None
    given = {
        "root": None if arguments.root is None else checked("--root", arguments.root, read_root),
        "at": arguments.at,
        "accepted_statuses": statuses,
        "allow_debug": arguments.allow_debug or None,
        "allow_ve_injection": arguments.allow_ve_injection or None,
        "allow_other_accounts": arguments.allow_other_accounts or None,
        "expected_compose": None if arguments.expect_compose is None else read(arguments.expect_compose),
        "measurements": load_measurements(arguments.measurements) if arguments.measurements is not None else None,
        "statement": _believed(arguments, settings.policy.statement),
    }
    policy = replace(settings.policy, **{name: value for name, value in given.items() if value is not None})
    sources = settings.sources
    if arguments.pccs is not None:
        sources = replace(sources, pccs=arguments.pccs, collateral=None)
    if arguments.collateral is not None:
        sources = replace(sources, collateral=read(arguments.collateral))
    return PolicyFile(
        policy,
        replace(
            sources,
            resolver=arguments.resolver or sources.resolver,
            rpc_url=arguments.rpc_url or sources.rpc_url,
            ca_file=arguments.ca_file,
            statement=None if arguments.statement is None else read(arguments.statement),
        ),
    )


def _believed(arguments: argparse.Namespace, stated: StatementPolicy | None) -> StatementPolicy | None:
    """Signers and trusted root of the command line in place of the policy's."""
    keys = (Signer(checked("--signer", file, read_public_key), file.name) for file in arguments.signer)
    signers: tuple[Signer | KeylessSigner, ...] = (*keys, *_identities(arguments))
    if signers:
        stated = replace(stated, signers=signers) if stated else StatementPolicy(signers)
    named = stated is not None and any(isinstance(signer, KeylessSigner) for signer in stated.signers)
    if named:
        require_library()
    if arguments.trusted_root is None:
        return stated
    if stated is None or not named:
        raise Problem("--trusted-root is for identities: add --certificate-identity, or one in the policy")
    return replace(stated, trusted_root=checked("--trusted-root", arguments.trusted_root, read_trusted_root))


def _identities(arguments: argparse.Namespace) -> tuple[KeylessSigner, ...]:
    identity, issuer = arguments.certificate_identity, arguments.certificate_oidc_issuer
    if identity is None and issuer is None:
        return ()
    if not identity or not issuer:
        raise Problem("--certificate-identity and --certificate-oidc-issuer need each other, and a value")
    return (KeylessSigner(identity, issuer),)


def _judge(arguments: argparse.Namespace) -> _Judged:
    settings = _settings(arguments)
    policy, sources = settings.policy, settings.sources
    if arguments.statement is not None and policy.statement is None:
        raise Problem(
            "--statement needs somebody to believe: --signer PEM, --certificate-identity, or signers in the policy"
        )
    if arguments.quote is not None:
        if policy.statement is not None:
            raise Problem("a quote alone names no code that was judged: give a URL or --evidence")
        if policy.expected != Expected() or policy.expected_compose is not None:
            raise Problem("a quote alone names no app, compose file or account to expect: give a URL or --evidence")
        verified = verify_quote(_quote(arguments.quote), sources.collateral or b"", policy)
        return _Judged(str(arguments.quote), verified, settings)
    if arguments.evidence is not None:
        evidence = _folder(arguments.evidence, sources)
        return _Judged(str(arguments.evidence), verify(evidence, policy), settings, evidence)
    evidence, verified = fetch_and_verify(node_address(arguments.url), policy, sources)
    if arguments.save is not None:
        _save(evidence, arguments.save)
    return _Judged(str(arguments.url), verified, settings, evidence)


def _write_policy(file: Path, judged: _Judged) -> None:
    """Write a policy, unless the evidence is refused."""
    if not judged.verified.accepted or judged.evidence is None:
        return
    settings = judged.settings
    text = policy_text(judged.what, judged.evidence, judged.verified, settings.policy, settings.sources)
    try:
        write_whole(file, text)
    except OSError as problem:
        raise Problem(f"--write-policy {file}: cannot be written: {problem.strerror}") from problem


def _quote(path: Path) -> bytes:
    try:
        return hex_bytes(read(path).decode("ascii").strip())
    except ValueError as problem:
        raise Problem(f"--quote {path}: not a text of hex digits: {problem}") from problem


def _folder(folder: Path, sources: Sources) -> Evidence:
    evidence = evidence_in(folder)
    for name, body in ((COLLATERAL, sources.collateral), (STATEMENT, sources.statement)):
        evidence = evidence if body is None else evidence.with_file(name, body)
    return evidence


def _save(evidence: Evidence, folder: Path) -> None:
    try:
        save_folder(evidence, folder)
    except OSError as problem:
        raise Problem(f"--save {folder}: cannot be written: {problem.strerror}") from problem
