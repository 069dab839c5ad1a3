"""``service-conformance statement``: sign the verdict of a run about the code that was judged."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from conformance.commands.attested_files import checked, evidence_in, read
from conformance.problems import Problem
from conformance.report.load import load_results
from conformance.report.statement import judgement_of
from conformance.report.write import AFTER, BEFORE, write_whole
from conformance.verify import Policy, dsse, keyless
from conformance.verify.certificates import read_root
from conformance.verify.policy_file import load_policy
from conformance.verify.statement import PAYLOAD_TYPE

Sign: TypeAlias = Callable[[bytes], tuple[bytes, str]]
"""A payload to what is written, and who signed it."""


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("results", type=Path, metavar="RESULTS", help="results.json, or the folder that holds it")
    parser.add_argument(
        "--evidence", type=Path, required=True, metavar="DIR", help="the folder that `run --evidence` filled"
    )
    signer = parser.add_mutually_exclusive_group(required=True)
    signer.add_argument("--key", type=Path, metavar="PEM", help="private key to sign with, Ed25519 or ECDSA over P-256")
    signer.add_argument(
        "--keyless", action="store_true", help="sign with an identity, as a Sigstore bundle; public in a log for ever"
    )
    parser.add_argument(
        "--identity-token", metavar="JWT", help="whose identity (default: the CI job's, else a browser asks)"
    )
    parser.add_argument(
        "--trust-config",
        type=Path,
        metavar="FILE",
        help="Sigstore's ClientTrustConfig of another than the public instance",
    )
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="write the statement there")
    parser.add_argument("--root", type=Path, metavar="PEM", help="root certificate (default: Intel's SGX root CA)")
    parser.add_argument("--policy", type=Path, metavar="FILE", help="what is accepted of the evidence, in YAML")
    parser.set_defaults(handle=_state)


def _state(arguments: argparse.Namespace) -> int:
    sign = _signs_keyless(arguments) if arguments.keyless else _signs_with_key(arguments)
    results = load_results(arguments.results)
    before, after = (evidence_in(arguments.evidence / name) for name in (BEFORE, AFTER))
    judgement = judgement_of(results, before, after, _policy(arguments))
    body, signer = sign(judgement.payload())
    try:
        write_whole(arguments.output, body.decode())
    except OSError as problem:
        raise Problem(f"-o {arguments.output}: cannot be written: {problem.strerror}") from problem
    print(f"{judgement.result} of {len(judgement.subjects)} subjects, signed by {signer}")
    for warning in judgement.run.annotations.warnings:
        print(f"  {warning}")
    return 0


def _signs_with_key(arguments: argparse.Namespace) -> Sign:
    """Sign with a key, which is read at once."""
    for option in ("identity_token", "trust_config"):
        if getattr(arguments, option) is not None:
            raise Problem(f"--{option.replace('_', '-')} needs --keyless")
    try:
        signer = dsse.read_private_key(read(arguments.key))
    except ValueError as problem:
        raise Problem(f"--key {arguments.key}: {problem}") from problem
    return lambda payload: (dsse.sign(payload, PAYLOAD_TYPE, [signer]), f"the key {signer.public_key.keyid}")


def _signs_keyless(arguments: argparse.Namespace) -> Sign:
    """Sign with an identity, whose certificate is fetched only when there is something to sign."""
    try:
        keyless.require_library()
    except ValueError as problem:
        raise Problem(f"--keyless: {problem}") from problem
    trust_config = None if arguments.trust_config is None else read(arguments.trust_config)

    def sign(payload: bytes) -> tuple[bytes, str]:
        try:
            bundle, signer = keyless.sign(payload, arguments.identity_token, trust_config)
        except ValueError as problem:
            raise Problem(f"--keyless: nothing is signed: {problem}") from problem
        return bundle, keyless.told(signer)

    return sign


def _policy(arguments: argparse.Namespace) -> Policy:
    policy = load_policy(arguments.policy).policy if arguments.policy is not None else Policy()
    if arguments.root is None:
        return policy
    return replace(policy, root=checked("--root", arguments.root, read_root))
