"""Faults in signing with wallets: what is signed, how, and which wallets sign with a key that is none of theirs."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from eth_keys.datatypes import PrivateKey

from conformance.selftest.tools.accounts import whole
from conformance.selftest.tools.alter import wrap
from conformance.selftest.tools.mutant import mutant, row
from reference_node.node import Node
from reference_node.permission.keys import CURVE_ORDER
from reference_node.permission.runs import Run
from reference_node.permission.signatures import message_digest

HostCall = Callable[[Run, str, Mapping[str, object]], object]
NONCE = 0x5EED


def _hex_as_text(text: str) -> str:
    try:
        return bytes.fromhex(text).decode("latin-1") or text
    except ValueError:
        return text


@mutant(
    "PKP-170",
    "EXEC-190",
    each=[
        row("up-to-zero", lambda text: text.split("\0")[0]),
        row("digits-as-number", lambda text: str(int(text)) if text.isdecimal() else text),
        row("hex-as-latin-1", _hex_as_text),
    ],
)
def another_message_is_signed(node: Node, change: Callable[[str], str]) -> None:
    """Sign another text than was given; the label says which."""

    def call(host_call: HostCall, run: Run, name: str, arguments: Mapping[str, object]) -> object:
        message = arguments.get("message")
        changed = {**arguments, "message": change(message)} if isinstance(message, str) else arguments
        return host_call(run, name, changed)

    wrap(node.runs, "host_call", call)


@mutant("PKP-090")
def signatures_have_the_same_nonce(node: Node) -> None:
    """Sign messages with one nonce, so that signatures give keys away."""

    def call(host_call: HostCall, run: Run, name: str, arguments: Mapping[str, object]) -> object:
        if name != "signMessage":
            return host_call(run, name, arguments)
        key = int(str(host_call(run, "getPrivateKey", arguments)), 16)
        return _signed(key, message_digest(str(arguments["message"]).encode()))

    wrap(node.runs, "host_call", call)


def _signed(key: int, digest: bytes) -> str:
    point = PrivateKey(NONCE.to_bytes(32)).public_key.to_bytes()
    r, odd = int.from_bytes(point[:32]) % CURVE_ORDER, point[63] & 1
    s = pow(NONCE, -1, CURVE_ORDER) * (int.from_bytes(digest) + r * key) % CURVE_ORDER
    if s > CURVE_ORDER // 2:
        s, odd = CURVE_ORDER - s, odd ^ 1
    return f"0x{r:064x}{s:064x}{27 + odd:02x}"


@mutant("PKP-170", also="EXEC-200")
def third_wallet_signs_as_the_second(node: Node) -> None:
    """Sign for the third and later wallets of an account with the key of the second."""

    def key_of(original: Callable[[Run, bytes], bytes], run: Run, pkp: bytes) -> bytes:
        ids = [one.id for one in whole(node.accounts.wallets, run.caller.account_hash)]
        return original(run, ids[min(ids.index(pkp), 1)] if pkp in ids else pkp)

    wrap(node.runs, "wallet_key", key_of)


@mutant(
    "PKP-170",
    each=[row("private-keys", "getPrivateKey"), row("signatures-of-a-digest", "signDigest", also="EXEC-190")],
)
def first_answer_of_a_run_is_repeated(node: Node, repeated: str) -> None:
    """Answer equal calls of `{repeated}` in a run as the first, whichever wallet they name."""
    kept: dict[tuple[int, str], tuple[Run, object]] = {}

    def call(host_call: HostCall, run: Run, called: str, arguments: Mapping[str, object]) -> object:
        given = host_call(run, called, arguments)
        signed = id(run), str(arguments.get("digest"))
        return kept.setdefault(signed, (run, given))[1] if called == repeated else given

    wrap(node.runs, "host_call", call)
