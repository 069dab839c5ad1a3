"""The vectors of signed envelopes, held against the node's own judge, and against ethers and viem."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from conformance.endpoints.client import plain
from conformance.profile import Profile, value_at
from conformance.resources import fixtures, scenarios
from conformance.run.envelope_vectors import FILES, vector_files
from reference_node.permission.typed_data import Envelopes, Flow
from reference_node.problems import BadRequest, Unprocessable
from reference_node.strict_json import parse

from .npm import run_script

SHIPPED = {name: (fixtures() / "typed_data" / name).read_text(encoding="utf-8") for name in FILES.values()}


@dataclass(frozen=True)
class Vector:
    """A test with what its group and its file share."""

    primary_type: str
    group: dict[str, Any]
    test: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.primary_type} {self.test['tc_id']} {self.group['topic']}: {self.test['comment']}"

    @property
    def fits(self) -> bool:
        """Whether the reference node chose what the group assumes."""
        return all(plain(value_at(Profile(), key)) in values for key, values in self.group["assumes"].items())


def vectors(text: str) -> Iterator[Vector]:
    told = json.loads(text)
    tests = [Vector(told["primary_type"], group, test) for group in told["test_groups"] for test in group["tests"]]
    assert told["number_of_tests"] == len(tests)
    yield from tests


def judged(vector: Vector) -> str:
    """What the node's judge says: the signer's address, or the code of the fault."""
    body = f'{{"typed_data":{vector.test["typed_data"]}}}'
    try:
        sent = parse(body.encode(), "body")
        assert isinstance(sent, dict)
        signer = Envelopes().verify(
            sent["typed_data"],
            vector.test["signature"],
            flow=Flow(vector.primary_type),
            chain_id=vector.group["chain_id"],
            now=vector.group["now"],
            title=vector.group["title"],
        )
    except (BadRequest, Unprocessable) as fault:
        return fault.code
    return f"0x{signer.hex()}"


def assert_judged_rightly(text: str) -> None:
    for vector in vectors(text):
        if vector.fits:
            valid = judged(vector) == vector.group["wallet"]["address"].lower()
            assert valid == (vector.test["result"] == "valid"), f"{vector}: {judged(vector)}"


@pytest.mark.parametrize("name", SHIPPED)
def test_nodes_own_judge_agrees_with_the_shipped_vectors(name: str) -> None:
    assert_judged_rightly(SHIPPED[name])


def test_nodes_own_judge_agrees_with_the_vectors_of_another_seed() -> None:
    for text in vector_files(scenarios(), "another").values():
        assert_judged_rightly(text)


def test_shipped_vectors_are_what_their_seed_gives_byte_for_byte() -> None:
    assert {name: text.encode() for name, text in vector_files(scenarios(), "0").items()} == {
        name: text.encode() for name, text in SHIPPED.items()
    }


@pytest.mark.parametrize("name", SHIPPED)
def test_ethers_and_viem_agree_with_the_digests(name: str, tmp_path: Path) -> None:
    tests = list(vectors(SHIPPED[name]))
    file = tmp_path / "vectors.json"
    file.write_text(json.dumps([vector.test for vector in tests]), encoding="utf-8")
    results = json.loads(run_script("envelope_vectors.js", str(file)))
    spoken = 0
    for vector, result in zip(tests, results, strict=True):
        wallet, digest = vector.group["wallet"]["address"], vector.test["digest"]
        if vector.test["result"] == "valid":
            right = {"digest": digest, "signer": wallet}
            assert result == {"ethers": right, "viem": right}, str(vector)
        elif vector.test["digest_is_of"] == "this envelope" and result["ethers"] == result["viem"] is not None:
            assert result["ethers"]["digest"] == digest, str(vector)
            spoken += 1
    assert spoken > len(tests) // 10
