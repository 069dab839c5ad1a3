"""Authentication by key: the caller of a request and their account (specification, "Authentication").

The contract decides what a key may do: every write passes it the hash of the presented key. This module checks only
what the contract can't see: the headers, and whether the key is valid over HTTP.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import Annotated, TypeVar

from eth_utils.crypto import keccak
from fastapi import Depends, Request, Security
from fastapi.concurrency import run_in_threadpool
from fastapi.security import APIKeyHeader, HTTPAuthorizationCredentials, HTTPBearer

from reference_node.billing import MANAGEMENT_WRITE_CENTS
from reference_node.chain.account_config import AccountConfig
from reference_node.chain.contract_abi import ContractRefusal
from reference_node.chain.interface import Address
from reference_node.node import Node
from reference_node.permission.keys import address_of, key_hash, parse_key, pkp_id
from reference_node.permission.runs import Caller
from reference_node.problems import Forbidden, Unauthenticated
from reference_node.refusals import CHAIN_SECURED_DETAIL

T = TypeVar("T")

API_KEY_HEADER = APIKeyHeader(
    name="X-Api-Key", scheme_name="ApiKey", auto_error=False, description="An account API key or a usage API key."
)
BEARER_HEADER = HTTPBearer(
    scheme_name="Bearer", auto_error=False, description="The same keys, as `Authorization: Bearer <API_KEY>`."
)


@dataclass(frozen=True, slots=True)
class ManagementWrite:
    """A management write requested by a caller."""

    node: Node
    caller: Caller

    @property
    def acting_key(self) -> int:
        """The hash of the key whose permissions the contract checks."""
        return self.caller.key_hash

    @property
    def admin_wallet(self) -> Address:
        """The wallet that holds the account's credits at this moment."""
        return self.node.accounts.account(self.caller.account_hash).admin_wallet

    @contextmanager
    def charged(self) -> Iterator[AccountConfig]:
        """The contract to write to. The account is charged unless the block raises."""
        if not self.caller.managed:  # the contract would refuse it too, but only after gas and a hold
            raise Forbidden("chain-secured-account", CHAIN_SECURED_DETAIL)
        with self.node.charged(self.caller.account_hash, MANAGEMENT_WRITE_CENTS):
            yield self.node.accounts

    def handover(self) -> Lock:
        """The lock to hold while the account is converted and its credits move."""
        return self.node.handovers.of(self.caller.account_hash)


async def node_of(request: Request) -> Node:
    """The node that serves this request."""
    node: Node = request.app.state.node
    return node


async def presented_secret(
    request: Request,
    _api_key: Annotated[str | None, Security(API_KEY_HEADER)],
    _bearer: Annotated[HTTPAuthorizationCredentials | None, Security(BEARER_HEADER)],
) -> bytes:
    """The secret bytes of the key in the request's headers. The parameters only describe the headers in OpenAPI."""
    return the_secret(request)


def presented_keys(request: Request) -> set[str]:
    """The distinct key texts in the request's two headers."""
    texts = set(request.headers.getlist("x-api-key"))
    for value in request.headers.getlist("authorization"):
        scheme, _, credentials = value.partition(" ")
        if scheme.lower() == "bearer":
            texts.add(credentials.strip())
    return texts - {""}


def the_secret(request: Request) -> bytes:
    """The secret bytes of the request's one key. Raises `Unauthenticated`."""
    texts = presented_keys(request)
    if len(texts) > 1:
        raise Unauthenticated("conflicting-credentials", "the headers hold different keys: send one key")
    if not texts:
        raise Unauthenticated("key-missing", "send a key, as X-Api-Key: <API_KEY> or Authorization: Bearer <API_KEY>")
    secret = parse_key(texts.pop())
    if secret is None:
        raise _unknown_key()
    return secret


def caller_of(request: Request, node: Node) -> Caller:
    """The caller of this request. Raises `Unauthenticated` when the key is not valid."""
    secret = the_secret(request)
    presented = key_hash(secret)
    info = node.accounts.key_info(presented)
    if not info.account_hash or (info.is_account_key and not info.managed):
        raise _unknown_key()
    if info.expiration and node.chain.timestamp() >= info.expiration:
        raise Unauthenticated("key-expired", f"this usage key expired at Unix time {info.expiration}: use another")
    if not info.managed and not _attached(node.accounts, info.account_hash, secret):
        raise Unauthenticated("key-not-attached", "register the wallet of this usage key with registerWalletDerivation")
    return Caller(presented, info.account_hash, info.is_account_key, info.managed)


def _attached(accounts: AccountConfig, account_hash: int, secret: bytes) -> bool:
    """Whether both transactions that attach a usage key to a ChainSecured account are mined.

    A converted account, whose hash is not that of its admin wallet, may hold keys made over HTTP: they need only one.
    """
    if account_hash != int.from_bytes(keccak(accounts.account(account_hash).admin_wallet)):
        return True
    try:
        accounts.wallet(account_hash, pkp_id(address_of(secret)))
    except ContractRefusal as refusal:
        if refusal.error != "WalletUnknown":
            raise
        return False
    return True


def _unknown_key() -> Unauthenticated:
    return Unauthenticated(
        "unknown-key",
        "nobody holds this key: check that it is complete, was not removed, and that "
        "its account has not become ChainSecured",
    )


async def authenticate(
    request: Request,
    node: Annotated[Node, Depends(node_of)],
    _secret: Annotated[bytes, Depends(presented_secret)],
) -> Caller:
    """The caller of this request, authenticated before the body is read."""
    return await admitted(request, node, caller_of)


async def admitted(request: Request, node: Node, door: Callable[[Request, Node], T]) -> T:
    """Call an authentication function for a request, once; later calls return the stored result."""
    results: dict[object, T] = request.scope.setdefault("admitted", {})
    if door not in results:
        results[door] = await run_in_threadpool(door, request, node)
    return results[door]


async def management_write(
    node: Annotated[Node, Depends(node_of)], caller: Annotated[Caller, Depends(authenticate)]
) -> ManagementWrite:
    """The management write of this request."""
    return ManagementWrite(node, caller)


NodeOf = Annotated[Node, Depends(node_of)]
PresentedSecret = Annotated[bytes, Depends(presented_secret)]
CallerOf = Annotated[Caller, Depends(authenticate)]
WriteOf = Annotated[ManagementWrite, Depends(management_write)]
