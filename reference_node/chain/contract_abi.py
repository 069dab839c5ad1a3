"""The interface of `AccountConfig` as its compiled artifact states it: calls, results, events and refusals in bytes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from eth_abi.codec import ABICodec
from eth_abi.decoding import StringDecoder
from eth_abi.registry import BaseEquals, registry
from eth_utils.crypto import keccak

from reference_node import resources
from reference_node.chain.interface import Address, Reverted


class ContractRefusal(Exception):  # noqa: N818 - to refuse is no error of the contract
    """The contract refused, and said with which of its custom errors, about what."""

    def __init__(self, error: str, arguments: dict[str, object]) -> None:
        super().__init__(f"{error}{arguments}")
        self.error = error
        self.arguments = arguments


class Function(NamedTuple):
    """A function of the contract: its selector and the ABI types of what goes in and comes out."""

    selector: bytes
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


def call_data(function: str, *arguments: object) -> bytes:
    """The data of a call of this function."""
    interface = _functions()[function]
    return interface.selector + _codec().encode(interface.inputs, arguments)


def results(function: str, returned: bytes) -> tuple[Any, ...]:
    """What this function returned. Labels that are not UTF-8, which only wallets can write, come with U+FFFD."""
    return _codec().decode(_functions()[function].outputs, returned)


def creation_code(admin_payer: Address, payers: Sequence[Address]) -> bytes:
    """The data of the transaction that creates the contract with these payers."""
    code = bytes.fromhex(str(_artifact()["bytecode"]).removeprefix("0x"))
    return code + _codec().encode(("address", "address[]"), (admin_payer, payers))


def event_topic(event: str) -> bytes:
    """The first topic of this event's logs."""
    return _topics()[event]


def refusal(reverted: Reverted) -> ContractRefusal | Reverted:
    """The custom error that the contract reverted with; the revert itself where it is none of them."""
    entry = _errors().get(reverted.data[:4])
    if entry is None:
        return reverted
    values = _codec().decode([_type(parameter) for parameter in entry["inputs"]], reverted.data[4:])
    names = [parameter["name"] for parameter in entry["inputs"]]
    return ContractRefusal(entry["name"], dict(zip(names, values, strict=True)))


class _LenientStringDecoder(StringDecoder):
    """Strings on a chain need not be UTF-8, and one that is not must not stop a whole list."""

    def __init__(self) -> None:
        super().__init__(handle_string_errors="replace")  # type: ignore[no-untyped-call] # eth-abi is untyped here


@cache
def _codec() -> ABICodec:
    lenient = registry.copy()  # type: ignore[no-untyped-call] # eth-abi is untyped here
    lenient.unregister_decoder("string")
    strings = BaseEquals("string", with_sub=False)  # type: ignore[no-untyped-call] # eth-abi is untyped here
    lenient.register_decoder(strings, _LenientStringDecoder, label="string")
    return ABICodec(lenient)


@cache
def _artifact() -> dict[str, Any]:
    artifact: dict[str, Any] = json.loads((resources.artifacts() / "AccountConfig.json").read_text(encoding="utf-8"))
    return artifact


def interface() -> list[dict[str, Any]]:
    """The ABI as compilers and client libraries write it: functions, events and errors."""
    whole: list[dict[str, Any]] = _artifact()["abi"]
    return whole


def entries(kind: str) -> list[dict[str, Any]]:
    """What the interface has of one kind: `function`, `event` or `error`."""
    return [entry for entry in interface() if entry["type"] == kind]


def _type(parameter: dict[str, Any]) -> str:
    """The canonical ABI type, tuples written out."""
    kind = str(parameter["type"])
    if not kind.startswith("tuple"):
        return kind
    return f"({','.join(_type(component) for component in parameter['components'])}){kind.removeprefix('tuple')}"


def _signature(entry: dict[str, Any]) -> bytes:
    return keccak(text=f"{entry['name']}({','.join(_type(parameter) for parameter in entry['inputs'])})")


@cache
def _functions() -> dict[str, Function]:
    return {
        entry["name"]: Function(
            _signature(entry)[:4],
            tuple(_type(parameter) for parameter in entry["inputs"]),
            tuple(_type(parameter) for parameter in entry["outputs"]),
        )
        for entry in entries("function")
    }


@cache
def _errors() -> dict[bytes, dict[str, Any]]:
    return {_signature(entry)[:4]: entry for entry in entries("error")}


@cache
def _topics() -> dict[str, bytes]:
    return {entry["name"]: _signature(entry) for entry in entries("event")}
