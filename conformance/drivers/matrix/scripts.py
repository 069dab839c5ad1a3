"""The actions of the execution matrix, and how their answers prove which wallet's key was used.

Specification, "What the service does" 2: an action uses a permitted wallet's key material, and no other's.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from conformance.drivers.matrix.cells import Cell
from conformance.endpoints.messages import Answer
from conformance.problems import Mismatch
from conformance.profile import Profile, value_at
from conformance.service.action_sources import needs
from conformance.service.runs import address_of_private_key
from conformance.service.secrets_search import wallets_of_secrets_in
from conformance.values.json_values import printed
from conformance.values.recovery import UnrecoverableError, message_digest, signer

SIGNATURE_DIGITS, KEY_DIGITS = 130, 64
HEX_RUN = re.compile(r"[0-9a-fA-F]{64,}")
LONGEST_SEARCHED = 20_000
"""The number of characters of an answer that are searched for signatures and keys."""


@dataclass(frozen=True)
class Script:
    """An action by the name of its source."""

    name: str
    proof: Literal["message", "digest", "mask"]
    """The parameter that holds the challenge: a message or digest to sign, or a mask for the private key."""
    yields: bool = False
    """Whether the code swallows the refusal of the wallet and goes on."""


SCRIPTS = (
    Script("sign_message", "message"),
    Script("sign_digest", "digest"),
    Script("masked_key", "mask"),
    Script("sign_swallowing", "message", yields=True),
    Script("sign_silently", "message", yields=True),
    Script("masked_key_silently", "mask", yields=True),
)


def offered(profile: Profile) -> list[Script]:
    """The actions that need only sandbox calls that the profile states."""
    return [script for script in SCRIPTS if all(value_at(profile, key) is not None for key in needs(script.name))]


def scripts_for(cell: Cell, among: list[Script], *, full: bool) -> list[Script]:
    """The actions for a cell: one, chosen by the cell; all of them for a refused cell of a full run."""
    if full and not cell.decision().granted:
        return among
    fitting = among if not cell.decision().granted else [script for script in among if not script.yields] or among
    return [random.Random(cell.id).choice(fitting)]  # noqa: S311 - repeatable test data


def challenge(script: Script, seed: str) -> str:
    """The challenge of a run: new for each run, and derived from the run's seed."""
    source = random.Random(seed)  # noqa: S311 - repeatable test data
    return f"challenge {source.randbytes(16).hex()}" if script.proof == "message" else f"0x{source.randbytes(32).hex()}"


def prover(script: Script, challenge: str, result: object) -> str:
    """The address of the key that the run used. Mismatch: the answer proves none."""
    if script.proof == "mask":
        return address_of_private_key(result, challenge)
    try:
        return signer(_digest(script, challenge), printed(result))
    except UnrecoverableError as problem:
        raise Mismatch("a signature that recovers to the wallet", f"{problem}") from None


def _digest(script: Script, challenge: str) -> bytes:
    return message_digest(challenge) if script.proof == "message" else bytes.fromhex(challenge[2:])


def users_in(answer: Answer, script: Script, challenge: str) -> set[str]:
    """The addresses, in lower case, whose keys or signatures of the challenge an answer contains."""
    text = "\n".join((answer.text[:LONGEST_SEARCHED], *answer.headers.values()))
    wallets = set(wallets_of_secrets_in(text))
    for run in HEX_RUN.findall(text):
        wallets.update(_signers(script, challenge, run) if script.proof != "mask" else _unmasked(challenge, run))
    return wallets


def _signers(script: Script, challenge: str, run: str) -> Iterator[str]:
    for start in range(len(run) - SIGNATURE_DIGITS + 1):
        try:
            yield signer(_digest(script, challenge), run[start : start + SIGNATURE_DIGITS]).lower()
        except UnrecoverableError:
            continue


def _unmasked(mask: str, run: str) -> Iterator[str]:
    for start in range(len(run) - KEY_DIGITS + 1):
        try:
            yield address_of_private_key(run[start : start + KEY_DIGITS], mask).lower()
        except Mismatch:
            continue
