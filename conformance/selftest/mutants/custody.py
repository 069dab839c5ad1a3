"""Faults about the keys of wallets: whose key signs, what is signed, and what of a key gets out."""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from contextvars import ContextVar

from eth_utils.crypto import keccak

from conformance.selftest.tools.accounts import account_of
from conformance.selftest.tools.alter import Answered, Forward, Received, intercept, wrap
from conformance.selftest.tools.alter_runs import own_groups
from conformance.selftest.tools.api_keys import presented
from conformance.selftest.tools.concurrent_requests import Rendezvous
from conformance.selftest.tools.mutant import mutant
from reference_node.chain.account_config import WILDCARD
from reference_node.node import Node
from reference_node.permission.keys import KeyDerivation, key_hash, parse_key
from reference_node.permission.runs import Run
from reference_node.permission.signatures import sign

KeyOf = Callable[[Run, bytes], bytes]
FEW_USES = 4
HEX = re.compile("0x([0-9a-fA-F]{2})*")
MINUTES = 600


def _change_key(node: Node, change: Callable[[Run, bytes, bytes], bytes]) -> None:
    """Use another private key than that of the wallet; `change` gets the run, the PKP id and the right key."""
    wrap(node.runs, "wallet_key", lambda key_of, run, pkp_id: change(run, pkp_id, key_of(run, pkp_id)))


def _other(key: bytes) -> bytes:
    return keccak(key)


@mutant("PKP-170", "EXEC-190", "PKP-100", also="MINT-040")
def another_key_signs(node: Node) -> None:
    """Sign with another key than that of the wallet's address."""
    _change_key(node, lambda _run, _pkp, key: _other(key))


@mutant("PKP-170", "EXEC-190", also="EXEC-200 MINT-040")
def the_first_wallet_signs_for_all(node: Node) -> None:
    """Sign with the account's first wallet, whichever a run names."""

    def first(run: Run, _pkp: bytes, _key: bytes) -> bytes:
        path = node.accounts.wallets(run.caller.account_hash, 0, 1)[0].derivation_path
        return node.keys.wallet_key(path)

    _change_key(node, first)


@mutant("PKP-170", "EXEC-190", also="EXEC-200 MINT-040 PKP-100")
def the_last_wallet_used_signs(node: Node) -> None:
    """Sign with the key of the wallet that was used before."""
    last: list[bytes] = []

    def of_the_one_before(_run: Run, _pkp: bytes, key: bytes) -> bytes:
        before = last[-1] if last else key
        last.append(key)
        return before

    _change_key(node, of_the_one_before)


@mutant("PKP-170", "EXEC-190", also="EXEC-200 MINT-040")
def every_account_signs_with_one_key(node: Node) -> None:
    """Sign with one key for the wallets of all accounts."""
    kept: list[bytes] = []

    def the_same(_run: Run, _pkp: bytes, key: bytes) -> bytes:
        kept.append(key)
        return kept[0]

    _change_key(node, the_same)


@mutant("PKP-100", also="PKP-170")
def keys_change_after_some_uses(node: Node) -> None:
    """Use another key of a wallet from its fifth use on."""
    uses: Counter[bytes] = Counter()

    def worn(_run: Run, pkp: bytes, key: bytes) -> bytes:
        uses[pkp] += 1
        return key if uses[pkp] <= FEW_USES else _other(key)

    _change_key(node, worn)


@mutant("PKP-100", also="PKP-170")
def keys_change_with_time(node: Node) -> None:
    """Use another key of a wallet ten minutes after its first use."""
    first: dict[bytes, int] = {}

    def aged(_run: Run, pkp: bytes, key: bytes) -> bytes:
        begin = first.setdefault(pkp, node.clock.now())
        return key if node.clock.now() - begin < MINUTES else _other(key)

    _change_key(node, aged)


@mutant("PKP-100", also="MINT-040 PKP-170")
def keys_depend_on_who_runs(node: Node) -> None:
    """Use another key of a wallet for usage keys than for the account key."""
    _change_key(node, lambda run, _pkp, key: key if run.caller.key_hash == run.caller.account_hash else _other(key))


ALONE_SECONDS = 0.5
"""How long a use of a wallet waits there for that of another run."""


@mutant("PKP-100", "PKP-170", "EXEC-190")
def keys_collide_under_load(node: Node) -> None:
    """Use wrong keys when two runs use wallets at the same moment."""
    busy, rendezvous = threading.Lock(), Rendezvous(ALONE_SECONDS)

    def use(key_of: KeyOf, run: Run, pkp: bytes) -> bytes:
        alone = busy.acquire(blocking=False)
        try:
            key = key_of(run, pkp)
            rendezvous.wait()
            return key if alone else _other(key)
        finally:
            if alone:
                busy.release()

    wrap(node.runs, "wallet_key", use)


def _signs(node: Node, name: str, member: str, digest: Callable[[str], bytes]) -> None:
    """Change what a call signs of its argument."""

    def call(host_call: Callable[..., object], run: Run, called: str, arguments: Mapping[str, object]) -> object:
        if called != name:
            return host_call(run, called, arguments)
        key = host_call(run, "getPrivateKey", arguments)
        return sign(bytes.fromhex(str(key)[2:]), digest(str(arguments[member])))

    wrap(node.runs, "host_call", call)


@mutant("PKP-170", "EXEC-190")
def messages_are_signed_without_their_prefix(node: Node) -> None:
    """Sign a message without the prefix of EIP-191."""
    _signs(node, "signMessage", "message", lambda text: keccak(text=text))


@mutant("PKP-170", "EXEC-190")
def messages_in_hex_are_signed_as_bytes(node: Node) -> None:
    """Sign a message in hex as the bytes that it stands for."""

    def digest(text: str) -> bytes:
        raw = bytes.fromhex(text[2:]) if HEX.fullmatch(text) else text.encode()
        return keccak(b"\x19Ethereum Signed Message:\n" + str(len(raw)).encode() + raw)

    _signs(node, "signMessage", "message", digest)


@mutant("PKP-170", "EXEC-190")
def messages_are_counted_in_characters(node: Node) -> None:
    """Count the characters of a message for the prefix, not its bytes."""

    def digest(text: str) -> bytes:
        return keccak(b"\x19Ethereum Signed Message:\n" + str(len(text)).encode() + text.encode())

    _signs(node, "signMessage", "message", digest)


@mutant("PKP-170", "EXEC-190")
def digests_are_hashed_again(node: Node) -> None:
    """Hash a digest once more before signing it."""
    _signs(node, "signDigest", "digest", lambda text: keccak(bytes.fromhex(text[2:])))


@mutant("PKP-170", "EXEC-190")
def private_keys_are_of_another_wallet(node: Node) -> None:
    """Give an action a private key that is not the wallet's, though signatures are right."""

    def call(host_call: Callable[..., object], run: Run, called: str, arguments: Mapping[str, object]) -> object:
        given = host_call(run, called, arguments)
        return f"0x{_other(bytes.fromhex(str(given)[2:])).hex()}" if called == "getPrivateKey" else given

    wrap(node.runs, "host_call", call)


def _paths(node: Node) -> dict[bytes, int]:
    """Return the derivation path of every wallet that is created from now on, by its PKP id."""
    paths: dict[bytes, int] = {}

    def create(write: Callable[..., object], acting: int, wallet: bytes, path: int, *labels: str) -> None:
        write(acting, wallet, path, *labels)
        paths[keccak(wallet)] = path

    wrap(node.accounts, "create_wallet", create)
    return paths


@mutant("PKP-150")
def all_wallets_are_those_of_everybody(node: Node) -> None:
    """Let a group that permits all wallets permit those of other accounts, too."""
    paths = _paths(node)

    def may_use(right: Callable[..., bool], run: Run, pkp: bytes) -> bool:
        groups = own_groups(node, run.caller.key_hash)
        wild = any(WILDCARD in group.wallets and group.has_action(run.action) for group in groups)
        return right(run, pkp) or (wild and pkp in paths)

    def wallet_key(key_of: Callable[[Run, bytes], bytes], run: Run, pkp: bytes) -> bytes:
        return node.keys.wallet_key(paths[pkp]) if pkp in paths else key_of(run, pkp)

    wrap(node.runs, "may_use", may_use)
    wrap(node.runs, "wallet_key", wallet_key)


class _Numbered:
    """A derivation that counts: the key of a path is that of the number which the path got, where it got one."""

    def __init__(self, right: KeyDerivation) -> None:
        self._right = right
        self._numbers: dict[int, int] = {}
        self.next: ContextVar[int] = ContextVar("next", default=0)

    def wallet_key(self, path: int) -> bytes:
        """The key of the path's number; the right one of a path that is not made by `create_wallet`."""
        if number := self.next.get():
            self._numbers.setdefault(path, number)
        return self._right.wallet_key(self._numbers.get(path, path))


@mutant("PKP-150", also="ACC-110 PKP-110")
def wallets_are_numbered_in_each_account(node: Node) -> None:
    """Derive the key of a wallet made by `create_wallet` from its number in its account, the same for all accounts."""
    numbered = _Numbered(node.keys)
    made: Counter[int] = Counter()

    async def handler(request: Received, forward: Forward) -> Answered:
        secret = parse_key(presented(request))
        account = account_of(node, key_hash(secret)) if secret else 0
        if not account:
            return await forward(request)
        made[account] += 1
        token = numbered.next.set(made[account])
        try:
            return await forward(request)
        finally:
            numbered.next.reset(token)

    node.keys = numbered  # type: ignore[assignment]  # it does what runs and the creation of wallets need
    intercept(node, "create_wallet", handler)
