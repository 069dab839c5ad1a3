"""``service-conformance statement``: sign the verdict of a run about the code that was judged."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from conformance.problems import Problem
from conformance.report.load import load_results
from conformance.report.statement import judgement_of
from conformance.report.write import AFTER, BEFORE, write_whole
from conformance.verify import Evidence, Policy, dsse, load_folder
from conformance.verify.certificates import read_root
from conformance.verify.evidence import read_file
from conformance.verify.policy_file import load_policy
from conformance.verify.statement import PAYLOAD_TYPE


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("results", type=Path, metavar="RESULTS", help="results.json, or the folder that holds it")
    parser.add_argument(
        "--evidence", type=Path, required=True, metavar="DIR", help="the folder that `run --evidence` filled"
    )
    parser.add_argument(
        "--key", type=Path, required=True, metavar="PEM", help="private key to sign with, Ed25519 or ECDSA over P-256"
    )
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="write the statement there")
    parser.add_argument("--root", type=Path, metavar="PEM", help="root certificate (default: Intel's SGX root CA)")
    parser.add_argument("--policy", type=Path, metavar="FILE", help="what is accepted of the evidence, in YAML")
    parser.set_defaults(handle=_state)


def _state(arguments: argparse.Namespace) -> int:

    key = arguments.key
    try:
        signer = dsse.read_private_key(_read(key))
    except ValueError as problem:
        raise Problem(f"--key {key}: {problem}") from problem
    results = load_results(arguments.results)
    before, after = (_folder(arguments.evidence / name) for name in (BEFORE, AFTER))
    judgement = judgement_of(results, before, after, _policy(arguments))
    text = dsse.sign(judgement.payload(), PAYLOAD_TYPE, [signer]).decode()
    try:
        write_whole(arguments.output, text)
    except OSError as problem:
        raise Problem(f"-o {arguments.output}: cannot be written: {problem.strerror}") from problem
    print(f"{judgement.result} of {len(judgement.subjects)} subjects, signed by the key {signer.public_key.keyid}")
    for warning in judgement.run.annotations.warnings:
        print(f"  {warning}")
    return 0


def _read(path: Path) -> bytes:

    try:
        return read_file(path)
    except OSError as problem:
        raise Problem(f"{path}: cannot be read: {problem.strerror}") from problem


def _folder(path: Path) -> Evidence:

    try:
        return load_folder(path)
    except OSError as problem:
        raise Problem(f"--evidence {problem.filename or path}: {problem.strerror}") from problem
    except ValueError as problem:
        raise Problem(f"--evidence {problem}") from problem


def _policy(arguments: argparse.Namespace) -> Policy:

    policy = load_policy(arguments.policy).policy if arguments.policy is not None else Policy()
    if arguments.root is None:
        return policy
    root = _read(arguments.root)
    try:
        read_root(root)
    except ValueError as problem:
        raise Problem(f"--root {arguments.root}: {problem}") from problem
    return replace(policy, root=root)
