"""CIDs of code ("Resources and their fields / Action", `get_service_action_ipfs_id`).

The endpoint takes no credential: this pack runs against nodes without managed accounts, too.
"""

from __future__ import annotations

import json
from dataclasses import replace

from conformance.cases import Judge, case
from conformance.service.acceptance import must_accept
from conformance.service.derivations import BYTES_OF_A_BLOCK, code_cid, long_code_cid
from conformance.service.node import Node
from conformance.service.refusal import was_accepted
from conformance.values.json_values import member, printed

CODE = "async function main() { return 1; } //"
AROUND_A_LENGTH = (*range(118, 130), *range(2**14 - 12, 2**14 + 2))
"""Bytes of codes whose blocks hold lengths around the largest that one and two bytes of a varint tell."""
AROUND_A_BLOCK = (BYTES_OF_A_BLOCK - 1, BYTES_OF_A_BLOCK, BYTES_OF_A_BLOCK + 1, 2 * BYTES_OF_A_BLOCK)
SIZES = (len(CODE), *AROUND_A_LENGTH, *AROUND_A_BLOCK)
ALGORITHM = "crypto.cid_algorithm"


@case("one-byte-makes-another-cid", requirements=["ACT-150"], needs=["http"])
def one_byte_makes_another_cid(judge: Judge, node: Node) -> None:
    """Codes that differ in one byte, or look alike, have different CIDs."""
    plain = "async function main() { return 1 }"
    codes = [plain, *(plain + end for end in (" ", "\n", "\r\n")), plain.replace("1", "2")]
    codes += [plain.replace("1", text) for text in ("'\u00e9'", "'e\u0301'")]
    cids = [node.actions.asked_cid(code) for code in codes]
    with judge():
        judge.distinct(cids, "CIDs of codes that differ")


@case("one-byte-at-the-end-of-a-long-code", requirements=["ACT-150"], needs=["http"])
def one_byte_at_the_end_of_a_long_code(judge: Judge, node: Node) -> None:
    """Long codes that differ in their last byte alone have different CIDs."""
    node.actions.asked_cid(CODE)
    line = "// 32 bytes of an action's code\n" * 10_000
    with judge():
        cids = []
        for end in "12":
            answer = node.session.send(node.session.request("get_action_ipfs_id", code=line + end))
            # How long a code may be is silent.
            if was_accepted(node.session, answer, or_refused=["any"]):
                cids.append(answer.text)
        judge.distinct(cids, "CIDs of long codes that differ")


@case("codes-of-whole-blocks", requirements=["ACT-160"], needs=["http"], uses=[ALGORITHM])
def codes_of_whole_blocks(judge: Judge, node: Node) -> None:
    """The CID of short codes, and of codes around one block and of two, is the one that the profile says."""
    algorithm = node.session.stated(ALGORITHM)
    # A block holds bytes: the bound of one lies inside of a character here.
    of_long_characters = CODE + "\u0436\U0001f680" * (BYTES_OF_A_BLOCK // 5)
    for code in (*(CODE.ljust(size, "x") for size in SIZES), of_long_characters):
        with judge.apart():
            size = len(code.encode())
            stated = code_cid(code, algorithm) or long_code_cid(code, algorithm)
            answer = node.session.send(node.session.request("get_action_ipfs_id", None, code=code))
            if size == len(CODE):
                must_accept(answer)
            # How long a code may be is silent; a server that refuses one may close the connection on longer ones.
            elif not was_accepted(node.session, answer, or_refused=["any"]):
                break
            if stated is not None:
                judge.same(member(answer.value, "cid"), stated, f"the CID of a code of {size} bytes")


@case("no-code", requirements=["ACT-160", "EP-320"], needs=["http"], uses=[ALGORITHM])
def no_code(judge: Judge, node: Node) -> None:
    """The empty code is refused, or has the CID of an empty file: it is no server fault."""
    with judge("EP-320"):
        answer = node.session.send(node.session.request("get_action_ipfs_id", None, code=""))
        # Whether code may be empty is silent.
        accepted = was_accepted(node.session, answer, or_refused=["any"])
    with judge("ACT-160"):
        stated = code_cid("", node.session.stated(ALGORITHM))
        if accepted and stated is not None:
            judge.same(member(answer.value, "cid"), stated, "the CID of no code")


@case("half-of-a-surrogate-pair", requirements=["ACT-150", "ERR-140"], needs=["http"])
def half_of_a_surrogate_pair(judge: Judge, node: Node) -> None:
    """A code with half of a surrogate pair is refused, or has another CID than codes with what may stand in for it."""
    codes = [f"async function main() {{ return '{text}' }}" for text in ("\ufffd", "?", "", "\ufffd\ufffd\ufffd")]
    cids: list[str] = [node.actions.asked_cid(code) for code in codes]
    for half in ("\ud800", "\udfff"):
        code = f"async function main() {{ return '{half}' }}"
        # UTF-8 has no bytes for it: it goes as the escape of JSON.
        request = replace(node.session.request("get_action_ipfs_id", None, code=code), body=json.dumps(code))
        answer = node.session.send(request)
        with judge.apart("ERR-140"):
            was_accepted(node.session, answer, or_refused=["any"])
        with judge.apart("ACT-150"):
            if answer.accepted:
                cid = printed(member(answer.value, "cid"))
                judge.that(cid not in cids, "another CID than that of a code with another text in its place", cid)
                cids.append(cid)
