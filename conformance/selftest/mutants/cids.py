"""Faults about which form of a CID a request takes, and about the CID of a code."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from pydantic import JsonValue

from conformance.selftest.tools.accounts import Write, account_of, actions_of
from conformance.selftest.tools.alter import (
    Answered,
    Forward,
    Received,
    answer,
    change_accepted,
    change_body,
    intercept,
    members,
    refusal,
    text_member,
    wrap,
)
from conformance.selftest.tools.alter_runs import RUN
from conformance.selftest.tools.mutant import mutant, row
from conformance.selftest.tools.operations import RAW_CID_WRITES
from reference_node.node import Node
from reference_node.permission.cid import CHUNK_SIZE, cid_hash, cid_of, cid_of_chunks, is_cid

MEBIBYTE = 1024 * 1024
HASHED = ("delete_action", "remove_action_from_group", "update_action_metadata")
"""The operations that take a hashed CID."""


@mutant("ACT-110")
def hashed_cid_takes_raw_cids_too(node: Node) -> None:
    """Take raw CIDs as `hashed_cid`, too."""

    async def handler(request: Received, forward: Forward) -> Answered:
        text = text_member(request, "hashed_cid")
        return await forward(_with_hash(request, text) if text.startswith(("Qm", "baf")) else request)

    intercept(node, HASHED, handler)


def _with_hash(request: Received, raw_cid: str) -> Received:
    body = {**members(json.loads(request.body)), "hashed_cid": f"0x{cid_hash(raw_cid).hex()}"}
    return request.having(body)


@mutant("ACT-120", also="ACT-170")
def raw_cid_may_be_a_hash(node: Node) -> None:
    """Take a hash as `action_ipfs_cid`, as it is."""

    def stored(text: str) -> bytes | None:
        digits = text.removeprefix("0x")
        return bytes.fromhex(digits) if len(digits) == len(bytes(32).hex()) else None

    _take_as_cids(node, stored)


@mutant(
    each=[
        row("trimmed", str.strip, breaks="ACT-140 ACT-150"),
        row("first-256-kib", lambda code: code[: 256 * 1024], breaks="ACT-150", also="ACT-140"),
    ],
    also="ACT-160 EP-320 EP-330",
)
def computed_cid_is_of_another_code(node: Node, change: Callable[[str], str]) -> None:
    """Compute the CID of another code than was sent; the label says of which."""
    change_body(node, "get_service_action_ipfs_id", lambda code: change(code) if isinstance(code, str) else code)


@mutant("ACT-160", also="ACT-140 EP-320")
def chunks_of_code_are_larger(node: Node) -> None:
    """Cut a code of 256 KiB and more into chunks of a mebibyte, and not as `ipfs add` does."""

    def changed(request: Received, given: Answered) -> Answered:
        code = json.loads(request.body)
        if not isinstance(code, str) or len(code.encode()) < CHUNK_SIZE:
            return given
        content = code.encode()
        return answer(200, cid_of_chunks([content[at : at + MEBIBYTE] for at in range(0, len(content), MEBIBYTE)]))

    change_accepted(node, "get_service_action_ipfs_id", changed)


@mutant("EP-320", server_fault=True, also="ERR-140 VER-050")
def empty_code_breaks_the_node(node: Node) -> None:
    """Answer the empty code with status 500."""

    async def handler(request: Received, forward: Forward) -> Answered:
        return answer(500, "index out of range") if json.loads(request.body) == "" else await forward(request)

    intercept(node, "get_service_action_ipfs_id", handler)


@mutant("ACT-160", also="ACT-140 ACT-150 EP-320 EP-330")
def empty_code_has_a_cid_of_its_own(node: Node) -> None:
    """Answer the CID of a blank for the empty code."""
    change_body(node, "get_service_action_ipfs_id", lambda code: code or " ")


@mutant("ACT-160", also="ACT-140 EP-320")
def first_size_past_a_varint_has_another_cid(node: Node) -> None:
    """Answer another code's CID where the size of a code is the first that one byte of a varint does not hold."""

    def changed(request: Received, given: Answered) -> Answered:
        code = json.loads(request.body)
        short = isinstance(code, str) and len(code.encode()) == 2**7
        return answer(200, cid_of(b"another")) if short else given

    change_accepted(node, "get_service_action_ipfs_id", changed)


HALF = re.compile("[\ud800-\udfff]")


@mutant("ACT-150", "EXEC-220")
def halves_of_pairs_have_stand_ins(node: Node) -> None:
    """Put a stand-in for each of its three bytes in the place of half of a surrogate pair in a code."""

    def change(value: JsonValue) -> JsonValue:
        if isinstance(value, dict) and isinstance(value.get("code"), str):
            return {**value, "code": HALF.sub("\ufffd" * 3, str(value["code"]))}
        return HALF.sub("\ufffd" * 3, value) if isinstance(value, str) else value

    change_body(node, (RUN, "get_service_action_ipfs_id"), change)


@mutant("ERR-140", server_fault=True, each=[RUN, "get_service_action_ipfs_id"], also="EP-030 EP-320 VER-050")
def halves_of_pairs_break_the_node(node: Node, operation: str) -> None:
    """Answer half of a surrogate pair in `{operation}` with status 500."""

    async def handler(request: Received, forward: Forward) -> Answered:
        value = json.loads(request.body)
        code = value.get("code") if isinstance(value, dict) else value
        return refusal(500) if HALF.search(str(code)) else await forward(request)

    intercept(node, operation, handler)


@mutant("ACT-170", also="ACT-090 ACT-120 EP-030")
def any_text_is_a_cid(node: Node) -> None:
    """Take any text as `action_ipfs_cid`."""
    _take_as_cids(node, lambda text: None if is_cid(text) else cid_hash(text))


@mutant("ACT-170", also="ACT-090")
def cids_are_known_by_their_length(node: Node) -> None:
    """Take any 46 characters that begin with Qm as `action_ipfs_cid`."""
    _take_as_cids(
        node, lambda text: cid_hash(text) if text.startswith("Qm") and len(text) == 46 and not is_cid(text) else None
    )


def _take_as_cids(node: Node, stored: Callable[[str], bytes | None]) -> None:
    """Take further texts as `action_ipfs_cid`: those of which `stored` tells the hash that the account gets."""
    hashes: dict[bytes, bytes] = {}

    def change(value: JsonValue) -> JsonValue:
        text = members(value).get("action_ipfs_cid")
        hashed = stored(text) if isinstance(text, str) else None
        if hashed is None:
            return value
        stand_in = cid_of(f"stand-in for {text}".encode())
        hashes[cid_hash(stand_in)] = hashed
        return {**members(value), "action_ipfs_cid": stand_in}

    def add(write: Write, acting_key: int, cid: bytes, *labels: str) -> object:
        return write(acting_key, hashes.get(cid, cid), *labels)

    def add_to_group(write: Write, acting_key: int, group_id: int, cid: bytes) -> object:
        return write(acting_key, group_id, hashes.get(cid, cid))

    change_body(node, RAW_CID_WRITES, change)
    wrap(node.accounts, "add_action", add)
    wrap(node.accounts, "add_action_to_group", add_to_group)


@mutant("ACT-220")
def leaving_a_group_deletes_the_metadata(node: Node) -> None:
    """Clear the action's name and description in `remove_action_from_group`."""

    def remove(write: Write, acting_key: int, group_id: int, cid: bytes) -> None:
        write(acting_key, group_id, cid)
        if cid in [action.cid_hash for action in actions_of(node, acting_key)]:
            node.accounts.update_action_metadata(account_of(node, acting_key), cid, "", "")

    wrap(node.accounts, "remove_action_from_group", remove)


@mutant("ACT-220", also="ACT-080 EP-210")
def leaving_a_group_deletes_the_action(node: Node) -> None:
    """Delete the action from the account in `remove_action_from_group`."""

    def remove(write: Write, acting_key: int, group_id: int, cid: bytes) -> None:
        write(acting_key, group_id, cid)
        if cid in [action.cid_hash for action in actions_of(node, acting_key)]:
            node.accounts.delete_action(account_of(node, acting_key), cid)

    wrap(node.accounts, "remove_action_from_group", remove)
