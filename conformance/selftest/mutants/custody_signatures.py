"""Faults in signing with wallets: what is signed, how, and which wallets sign with a key that is none of theirs."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from eth_keys.datatypes import PrivateKey
from eth_utils.crypto import keccak

from conformance.selftest.tools.accounts import account_of
from conformance.selftest.tools.alter import wrap
from conformance.selftest.tools.concurrent_requests import Rendezvous
from conformance.selftest.tools.mutant import mutant
from reference_node.keys import CURVE_ORDER
from reference_node.node import Node
from reference_node.runs import Run
from reference_node.signatures import message_digest

HostCall = Callable[[Run, str, Mapping[str, object]], object]
NONCE = 0x5EED


def _change_message(node: Node, change: Callable[[str], str]) -> None:
    """Sign another text than the one that was given."""

    def call(host_call: HostCall, run: Run, name: str, arguments: Mapping[str, object]) -> object:
        message = arguments.get("message")
        changed = {**arguments, "message": change(message)} if isinstance(message, str) else arguments
        return host_call(run, name, changed)

    wrap(node.runs, "host_call", call)


@mutant("PKP-170", "EXEC-190")
def messages_end_at_a_zero(node: Node) -> None:
    """A message is signed up to the character zero."""
    _change_message(node, lambda text: text.split("\0")[0])


@mutant("PKP-170", "EXEC-190")
def messages_of_digits_are_numbers(node: Node) -> None:
    """A message of digits alone is signed as the number that it stands for, without its leading zeros."""
    _change_message(node, lambda text: str(int(text)) if text.isdecimal() else text)


@mutant("PKP-170", "EXEC-190")
def messages_of_hex_digits_are_bytes(node: Node) -> None:
    """A message of hex digits without 0x is signed as the text that these bytes are in Latin-1."""

    def read(text: str) -> str:
        try:
            return bytes.fromhex(text).decode("latin-1") or text
        except ValueError:
            return text

    _change_message(node, read)


@mutant("PKP-090")
def every_signature_has_the_same_nonce(node: Node) -> None:
    """All signatures are made with one secret number, so that two of them give the key away."""

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


@mutant("PKP-170", "PKP-180")
def wallets_of_usage_keys_have_another_key(node: Node) -> None:
    """A wallet that a usage key created signs with a key that leads to another address."""
    theirs: set[bytes] = set()

    def create(write: Callable[..., object], acting: int, wallet: bytes, *others: object) -> None:
        write(acting, wallet, *others)
        if acting != account_of(node, acting):
            theirs.add(keccak(wallet))

    def key_of(original: Callable[[Run, bytes], bytes], run: Run, pkp: bytes) -> bytes:
        key = original(run, pkp)
        return keccak(key) if pkp in theirs else key

    wrap(node.accounts, "create_wallet", create)
    wrap(node.runs, "wallet_key", key_of)


@mutant("PKP-170")
def third_wallet_signs_as_the_second(node: Node) -> None:
    """From the third wallet of an account on all sign with the key of the second."""

    def key_of(original: Callable[[Run, bytes], bytes], run: Run, pkp: bytes) -> bytes:
        ids = [one.id for one in node.accounts.wallets(run.caller.account_hash, 0, 100)]
        return original(run, ids[min(ids.index(pkp), 1)] if pkp in ids else pkp)

    wrap(node.runs, "wallet_key", key_of)


def _keep(node: Node, name: str) -> None:
    """The answer to the first call of this name in a run is that to every later one of the same wallet, or of any."""
    kept: dict[tuple[int, object], tuple[Run, object]] = {}

    def call(host_call: HostCall, run: Run, called: str, arguments: Mapping[str, object]) -> object:
        given = host_call(run, called, arguments)
        if called != name:
            return given
        wallet = arguments.get("pkpId") if name == "signMessage" else None
        return kept.setdefault((id(run), wallet), (run, given))[1]

    wrap(node.runs, "host_call", call)


@mutant("PKP-170")
def a_run_has_one_signature_of_a_wallet(node: Node) -> None:
    """Once a wallet has signed in a run, that signature is the answer for each text of the run."""
    _keep(node, "signMessage")


@mutant("PKP-170")
def a_run_has_one_private_key(node: Node) -> None:
    """The private key that a run got first is what it gets for each of its wallets."""
    _keep(node, "getPrivateKey")


@mutant("PKP-170", "EXEC-190")
def runs_at_once_sign_with_the_wallet_named_last(node: Node) -> None:
    """The wallet that is to sign stands in one place for all runs: that which was named last signs."""
    rendezvous, named = Rendezvous(), [""]

    def call(host_call: HostCall, run: Run, name: str, arguments: Mapping[str, object]) -> object:
        named[0] = str(arguments.get("pkpId"))
        if name == "signMessage":
            rendezvous.wait()
        return host_call(run, name, {**arguments, "pkpId": named[0]})

    wrap(node.runs, "host_call", call)
