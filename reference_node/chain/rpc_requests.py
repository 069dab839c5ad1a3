"""The structured parameters of the JSON-RPC: which block, what call, which pretended accounts, which logs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from eth.vm.forks.prague.transactions import Authorization
from eth_typing import Address as EthAddress

from reference_node.chain.evm_calls import Call, Override
from reference_node.chain.evm_transactions import BLOCK_GAS_LIMIT
from reference_node.chain.interface import ZERO_ADDRESS, Address, Hash, Log
from reference_node.chain.rpc_values import (
    Decoder,
    InvalidParams,
    address,
    boolean,
    data,
    hash32,
    list_of,
    mapping,
    member,
    quantity,
)

BlockId: TypeAlias = "int | str | Hash"
"""A number, a tag, or a hash."""

LATEST_TAGS = frozenset({"latest", "pending", "safe", "finalized"})
"""Tags of one and the same block: each is final as soon as it is mined."""

TOPICS = 4
"""The most topics that a log has."""

CHOICES = 1000
"""The most addresses, or topics at one position, that a filter takes: it is kept for minutes, beside many others."""

_IGNORED_QUANTITIES = ("gasPrice", "maxFeePerGas", "maxPriorityFeePerGas", "nonce", "type", "maxFeePerBlobGas")


def block_tag(value: object) -> BlockId:
    """A block by number or tag."""
    if value == "earliest":
        return 0
    if isinstance(value, str) and value in LATEST_TAGS:
        return value
    return quantity(value)


def block_id(value: object) -> BlockId:
    """A block by number, by tag, or by an object that names one of number and hash (EIP-1898)."""
    if not isinstance(value, dict):
        return block_tag(value)
    member(value, "requireCanonical", boolean)
    number, block_hash = member(value, "blockNumber", quantity), member(value, "blockHash", hash32)
    if number is not None and block_hash is None:
        return number
    if block_hash is not None and number is None:
        return block_hash
    raise InvalidParams("a block is named by either blockNumber or blockHash")


def call_request(value: object) -> Call:
    """A call or transaction to be tried. Fees are checked for their form and otherwise have no say: calls are free."""
    fields = mapping(value)
    for name in _IGNORED_QUANTITIES:
        member(fields, name, quantity)
    return Call(
        sender=member(fields, "from", address) or ZERO_ADDRESS,
        to=member(fields, "to", address),
        data=_input(fields),
        value=member(fields, "value", quantity) or 0,
        gas=min(member(fields, "gas", quantity) or BLOCK_GAS_LIMIT, BLOCK_GAS_LIMIT),
        access_list=tuple(member(fields, "accessList", list_of(_access)) or ()),
        authorizations=tuple(member(fields, "authorizationList", list_of(_authorization)) or ()),
        chain_id=member(fields, "chainId", quantity),
    )


def _input(fields: dict[str, object]) -> bytes:
    named_data, named_input = member(fields, "data", data), member(fields, "input", data)
    if named_data is not None and named_input is not None and named_data != named_input:
        raise InvalidParams("data and input are two names of one field, yet they differ")
    return named_input or named_data or b""


def _access(value: object) -> tuple[Address, tuple[int, ...]]:
    fields = mapping(value)
    keys = member(fields, "storageKeys", list_of(hash32)) or []
    return address(fields.get("address")), tuple(int.from_bytes(key, "big") for key in keys)


def _authorization(value: object) -> Authorization:
    fields = mapping(value)
    return Authorization(
        chain_id=quantity(fields.get("chainId")),
        address=EthAddress(address(fields.get("address"))),
        nonce=quantity(fields.get("nonce")),
        y_parity=quantity(fields.get("yParity")),
        r=quantity(fields.get("r")),
        s=quantity(fields.get("s")),
    )


def overrides(value: object) -> dict[Address, Override]:
    """What accounts a call pretends: the state override set of `eth_call`."""
    return {address(key): _override(account) for key, account in mapping(value).items()}


def _override(value: object) -> Override:
    fields = mapping(value)
    unknown = fields.keys() - {"balance", "nonce", "code", "state", "stateDiff"}
    if unknown:
        raise InvalidParams(f"unknown state override: {', '.join(sorted(unknown))}")
    state, state_diff = member(fields, "state", _slots), member(fields, "stateDiff", _slots)
    if state is not None and state_diff is not None:
        raise InvalidParams("a state override has state or stateDiff, not both")
    nonce = member(fields, "nonce", quantity)
    if nonce is not None and nonce >= 2**64 - 1:
        raise InvalidParams("a nonce is below 2**64 - 1")
    return Override(
        balance=member(fields, "balance", quantity),
        nonce=nonce,
        code=member(fields, "code", data),
        state=state,
        state_diff=state_diff or {},
    )


def _slots(value: object) -> dict[int, int]:
    return {quantity(slot): quantity(content) for slot, content in mapping(value).items()}


@dataclass(frozen=True, slots=True)
class LogCriteria:
    """Which logs are wanted: blocks, emitting contracts, topics by position. An empty choice takes all."""

    first: BlockId | None
    last: BlockId | None
    block_hash: Hash | None
    addresses: frozenset[Address]
    topics: tuple[frozenset[Hash], ...]

    def match(self, log: Log) -> bool:
        """Whether a log of the wanted blocks is wanted."""
        if self.addresses and log.address not in self.addresses:
            return False
        if len(log.topics) < len(self.topics):
            return False
        return all(not choice or topic in choice for choice, topic in zip(self.topics, log.topics, strict=False))


def log_criteria(value: object) -> LogCriteria:
    """The filter object of `eth_getLogs` and `eth_newFilter`."""
    fields = mapping(value)
    first, last = member(fields, "fromBlock", block_tag), member(fields, "toBlock", block_tag)
    block_hash = member(fields, "blockHash", hash32)
    if block_hash is not None and not (first is last is None):
        raise InvalidParams("logs are asked for by blockHash or by fromBlock and toBlock, not both")
    topics = member(fields, "topics", list_of(_topic_choice)) or []
    if len(topics) > TOPICS:
        raise InvalidParams(f"a log has at most {TOPICS} topics")
    addresses = member(fields, "address", _one_or_more_addresses) or frozenset()
    return LogCriteria(first, last, block_hash, addresses, tuple(topics))


def _one_or_more_addresses(value: object) -> frozenset[Address]:
    return _choices(value, address)


def _topic_choice(value: object) -> frozenset[Hash]:
    """One topic, a list of which any will do, or null for any topic at all; null within a list means the same."""
    if value is None or (isinstance(value, list) and None in value):
        return frozenset()
    return _choices(value, hash32)


def _choices(value: object, decoder: Decoder[bytes]) -> frozenset[bytes]:
    """One value, or a list of those of which any will do."""
    if not isinstance(value, list):
        return frozenset([decoder(value)])
    if len(value) > CHOICES:
        raise InvalidParams(f"at most {CHOICES} choices are taken, not {len(value)}")
    return frozenset(list_of(decoder)(value))
