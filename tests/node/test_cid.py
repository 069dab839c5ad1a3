"""CIDs: of code, held against IPFS's own importer, and whether a text is one."""

from __future__ import annotations

import base64
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from programs import absent

from reference_node.permission.cid import MULTIBASES, USUAL_CIDS, cid_hash, cid_of, is_cid

VECTORS = Path(__file__).resolve().parents[2] / "fixtures" / "cid" / "vectors.json"
ORACLE = Path(__file__).resolve().parent / "js"


def test_vectors_are_what_the_oracle_writes() -> None:
    node = shutil.which("node")
    if node is None or not (ORACLE / "node_modules").is_dir():
        absent("the CID oracle is missing: install Node.js and run `npm --prefix tests/node/js ci`")
    command = [node, str(ORACLE / "cids.mjs"), str(VECTORS)]
    written = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600).stdout  # noqa: S603 - our own script
    assert written == VECTORS.read_text()


def cid_v1(payload: bytes) -> str:
    """In base32, the usual spelling."""
    return "b" + base64.b32encode(payload).decode().lower().rstrip("=")


DIGEST = bytes(range(32))
RAW = b"\x01\x55\x12\x20" + DIGEST


@pytest.mark.parametrize(
    "text",
    [
        "QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH",
        cid_v1(RAW),
        cid_v1(RAW).upper(),
        "f" + RAW.hex(),
        "F" + RAW.hex().upper(),
        "u" + base64.urlsafe_b64encode(RAW).decode().rstrip("="),
        "m" + base64.b64encode(RAW).decode().rstrip("="),
        "zdj7Wf8ymVYbMpjcFwpEr8oCd3ipPmKBEVdtuPHbUnnVUUVDF",
        "k51qzi5uqu5dlvj2baxnqndepeb86cbk3ng7n3i46uzyxzyqj2xjonzllnv0v8",
        "bafkqabtimvwgy3yk",
        cid_v1(b"\x01\x70\x12\x20" + DIGEST),
        cid_v1(b"\x01\x55\x13\x40" + DIGEST * 2),
        cid_v1(b"\x01\x55\xa0\xe4\x02\x20" + DIGEST),
        cid_v1(b"\x01\xb2\xc0\x02\x12\x20" + DIGEST),
    ],
)
def test_cids_in_every_accepted_spelling_are_cids(text: str) -> None:
    assert is_cid(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Q",
        "Qm",
        "Qm" + "1" * 44,
        "Qm" + "z" * 44,
        "QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQ",
        "QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQHH",
        "QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQ0",
        "zQmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH",
        " QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH",
        "QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH\n",
        "/ipfs/QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH",
        "b",
        "x" + RAW.hex(),
        cid_v1(RAW)[:-1],
        cid_v1(RAW) + "a",
        cid_v1(RAW)[:-1] + "b",
        cid_v1(RAW).replace("b", "B", 1),
        cid_v1(RAW + b"\x00"),
        cid_v1(RAW[:-1]),
        cid_v1(b"\x00" + RAW[1:]),
        cid_v1(b"\x02" + RAW[1:]),
        cid_v1(b"\x81\x00" + RAW[1:]),
        cid_v1(b"\x01\x55\x12\x1f" + DIGEST[:-1]),
        cid_v1(b"\x01\x55\x99\x01\x20" + DIGEST),
        cid_v1(b"\x01" + b"\xff" * 12),
        "f" + RAW.hex()[:-1],
        "é" * 46,
        "b" + "a" * 100_000,
    ],
)
def test_texts_that_are_almost_a_cid_are_none(text: str) -> None:
    assert not is_cid(text)


@given(st.text(st.sampled_from("".join(MULTIBASES) + "Qm123abc")))
def test_no_text_makes_the_check_fail(text: str) -> None:
    assert is_cid(text) in {True, False}


@given(st.from_regex(USUAL_CIDS, fullmatch=True))
def test_what_the_description_calls_a_cid_is_one(text: str) -> None:
    assert is_cid(text)


@given(st.binary())
def test_cids_of_code_are_cids_and_fit_the_description(code: bytes) -> None:
    assert is_cid(cid_of(code))
    assert re.search(USUAL_CIDS, cid_of(code))


def test_hashed_cid_is_keccak256_of_the_text_as_given() -> None:
    # the digest of "abc" in the Keccak submission's own test vectors
    assert cid_hash("abc").hex() == "4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45"
