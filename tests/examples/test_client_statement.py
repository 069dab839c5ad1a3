"""The client in TypeScript that sends a key only to judged code: a second reader of statements."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from http_server import Answer, Request, serve
from programs import absent

from conformance.attestation_vectors.files import Vector, shipped
from conformance.verify import Evidence, Policy, verify
from conformance.verify.evidence import CHAIN_CONFIG, STATEMENT

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "client-statement"
ASKED = {
    "statement-signature",
    "statement-type",
    "statement-predicate",
    "judged-compose-differs",
    "judged-contract-differs",
    "judged-app-differs",
    "judged-boot-differs",
    "judged-result",
    "judged-too-old",
    "judged-in-future",
}
"""What the example looks at; its JSON and base64 are read as its libraries read them."""
UNASKED = {"another machine, whose boot the policy knows": "the example takes no measurements"}


@pytest.fixture(scope="module")
def node() -> str:
    found = shutil.which("node")
    if found is None or not (EXAMPLE / "node_modules" / "tsx").is_dir():
        absent("tsx is missing: run `npm --prefix examples/client-statement ci`")
    return found


def statements() -> list[Vector]:
    return [vector for vector in shipped() if vector.file == "statement.json" and STATEMENT in vector.files]


def question(vector: Vector) -> dict[str, Any]:
    policy: Any = vector.policy["statement"]
    verified = verify(Evidence(vector.files), Policy(root=vector.root.encode()))
    return {
        "envelope": vector.files[STATEMENT].decode(),
        "signers": [signer["key"] for signer in policy["signers"]],
        "measured": dict(verified.identity),
        "chain": json.loads(vector.files[CHAIN_CONFIG]),
        "results": policy.get("accept", ["PASSED"]),
        "mostDays": policy.get("max_age_days", 100_000),
        "at": vector.at,
    }


def test_second_reader_judges_statements_alike(node: str) -> None:
    asked = [vector for vector in statements() if vector.finding in {*ASKED, None} and vector.comment not in UNASKED]
    assert len(asked) > 100
    lines = "".join(json.dumps(question(vector)) + "\n" for vector in asked)
    script = Path(__file__).with_name("statement_vectors.mts")
    done = subprocess.run(  # noqa: S603 - our own script
        [node, "--import", "tsx", str(script)], cwd=EXAMPLE, input=lines, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()
    assert len(said) == len(asked)
    wrong = [
        f"{vector.id} {vector.comment}: {answer}"
        for vector, answer in zip(asked, said, strict=True)
        if answer.partition(":")[0] != vector.result
    ]
    assert wrong == []


@dataclass
class Service:
    """Tells its contract, and keeps the keys that it is sent."""

    chain_config: bytes
    url: str = ""
    keys: list[str] = field(default_factory=list)

    def answer(self, request: Request) -> Answer:
        """The answer to a request."""
        self.keys += [value for name, value in request.headers.items() if name == "x-api-key"]
        return Answer(200, self.chain_config)


@pytest.fixture
def sound() -> Vector:
    return next(vector for vector in statements() if vector.result == "accepted")


@pytest.fixture
def service(sound: Vector) -> Iterator[Service]:
    told = Service(sound.files[CHAIN_CONFIG])
    with serve(told.answer) as told.url:
        yield told


Client = Callable[[bytes], subprocess.CompletedProcess[str]]


@pytest.fixture
def client(node: str, service: Service, sound: Vector, tmp_path: Path) -> Client:
    """Runs the client with a statement and all else that the sound vector says."""
    policy: Any = sound.policy["statement"]
    verdict, stated, signer = (tmp_path / name for name in ("verdict.json", "statement.json", "signer.pem"))
    verdict.write_text(verify(Evidence(sound.files), Policy(root=sound.root.encode())).as_json(), encoding="utf-8")
    signer.write_text(policy["signers"][0]["key"], encoding="utf-8")

    def run(statement: bytes) -> subprocess.CompletedProcess[str]:
        stated.write_bytes(statement)
        return subprocess.run(  # noqa: S603 - our own script
            [node, "--import", "tsx", "client.ts", service.url, *map(str, (verdict, stated, signer))],
            cwd=EXAMPLE,
            env=os.environ | {"API_KEY": "secret"},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def test_client_sends_its_key_to_judged_code(client: Client, service: Service, sound: Vector) -> None:
    done = client(sound.files[STATEMENT])
    assert done.returncode == 0, done.stderr
    assert service.keys == ["secret"]


def test_client_sends_no_key_to_other_code(client: Client, service: Service, sound: Vector) -> None:
    service.chain_config = service.chain_config.replace(b"31337", b"31338")
    done = client(sound.files[STATEMENT])
    assert (done.returncode, service.keys) == (1, [])
    assert "No key is sent: judged-code: another contract" in done.stderr


def test_client_sends_no_key_by_a_statement_of_somebody_else(client: Client, service: Service) -> None:
    false = next(vector for vector in statements() if vector.comment == "of somebody else, who names the signer")
    done = client(false.files[STATEMENT])
    assert (done.returncode, service.keys) == (1, [])
    assert "No key is sent: statement-signature" in done.stderr
