"""Digests and signatures of random envelopes, held against ethers and viem (`tests/js/typed_data.js`)."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reference_node.permission.keys import CURVE_ORDER, address_of
from reference_node.permission.typed_data import UINT256_MAX, Envelopes, Flow, digest

from .npm import run_script

CASES = 200

SEED = 712


@dataclass(frozen=True)
class Case:
    """A wallet, and the values of what it signs."""

    private_key: bytes
    flow: Flow
    title: str
    chain_id: int
    issued_at: int
    forms: tuple[str, str]
    """How the two numbers are written."""

    def typed_data(self) -> dict[str, Any]:
        """The envelope."""
        return {
            "types": {
                "EIP712Domain": [
                    {"name": "name", "type": "string"},
                    {"name": "version", "type": "string"},
                    {"name": "chainId", "type": "uint256"},
                ],
                self.flow.value: [{"name": "address", "type": "address"}, {"name": "issuedAt", "type": "uint256"}],
            },
            "primaryType": self.flow.value,
            "domain": {
                "name": f"{self.title} ChainSecured",
                "version": "1",
                "chainId": written(self.chain_id, self.forms[0]),
            },
            "message": {
                "address": f"0x{address_of(self.private_key).hex()}",
                "issuedAt": written(self.issued_at, self.forms[1]),
            },
        }


def written(number: int, form: str) -> object:
    """A number as an integer where JavaScript reads it exactly, else as text."""
    if form == "integer" and number < 2**53:
        return number
    return hex(number) if form == "hex" else str(number)


def some_number(chance: random.Random, least: int) -> int:
    """Of every magnitude, the ends among them."""
    return chance.choice([least, UINT256_MAX, chance.randrange(least, 2**64), chance.getrandbits(256) or least])


def cases() -> list[Case]:
    chance = random.Random(SEED)  # noqa: S311 - the same cases each time
    return [
        Case(
            chance.randrange(1, CURVE_ORDER).to_bytes(32),
            chance.choice(list(Flow)),
            chance.choice(["Service", "X", "Brand", "A" * 80]),
            some_number(chance, 1),
            some_number(chance, 0),
            (chance.choice(["decimal", "integer", "hex"]), chance.choice(["decimal", "integer", "hex"])),
        )
        for _ in range(CASES)
    ]


def test_digests_and_signers_are_those_of_ethers_and_viem(tmp_path: Path) -> None:
    drawn = cases()
    file = tmp_path / "cases.json"
    file.write_text(
        json.dumps([{"privateKey": f"0x{case.private_key.hex()}", "typedData": case.typed_data()} for case in drawn])
    )
    results = json.loads(run_script("typed_data.js", str(file)))
    assert len(results) == CASES
    for case, result in zip(drawn, results, strict=True):
        address = address_of(case.private_key)
        ours = digest(case.flow, case.title, case.chain_id, address, case.issued_at)
        assert result["digests"] == [f"0x{ours.hex()}"] * 2, case
        for signature in result["signatures"]:
            signer = Envelopes().verify(
                case.typed_data(),
                signature,
                flow=case.flow,
                chain_id=case.chain_id,
                now=case.issued_at,
                title=case.title,
            )
            assert signer == address, case
