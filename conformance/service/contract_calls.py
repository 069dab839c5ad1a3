"""What requests to the chain call of the AccountConfig contract, as a report tells it: who, what, and the result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from eth_abi.exceptions import DecodingError
from eth_utils.address import to_checksum_address

from conformance.endpoints.chain import selector
from conformance.endpoints.conversation import LONGEST_ANSWER
from conformance.endpoints.log import RawExchange
from conformance.endpoints.signing import opened
from conformance.problems import StepProblem
from conformance.profile import Function, Parameter, read_aside
from conformance.profile.chain import CREATION, FIXED_WRITES, AccountAbi
from conformance.service.contract import EXECUTE, known_payers
from conformance.service.derivations import account_hash, usage_key_hash, wallet_hash
from conformance.service.session import Session
from conformance.values.abi_data import decode
from conformance.values.json_text import parse, written
from conformance.verdict import ContractCall

VIEWS = {*AccountAbi.model_fields} - {CREATION}
SELECTOR_BYTES = 4
MOST_PAYERS = 20
"""Payers that a report calls by a name."""
SHOWN_AS_HEX = 2**64
"""Larger numbers are hashes."""


class ContractCalls:
    """Reads the requests of one case that call the contract by a function which the profile states."""

    def __init__(self, session: Session) -> None:
        with read_aside():
            signatures = {**FIXED_WRITES, **_stated(session)}
        functions = {name: Function.parse(signature) for name, signature in signatures.items()}
        self._functions = {selector(function): function for function in functions.values()}
        self._hide = session.secrets.hide
        self._views = {function.name for name, function in functions.items() if name in VIEWS}

    def read(self, exchange: RawExchange) -> ContractCall | None:
        """What a request calls; None where it calls nothing of the contract. Of a batch the first call is told."""
        told = list(self._calls(exchange))
        if not told:
            return None
        several = len({call.sender for call in told}) > 1
        results = Counter(f"{call.sender} {call.result}" if several else call.result for call in told)
        result = ", ".join(f"{text} ({number} times)" if number > 1 else text for text, number in results.items())
        names = " and ".join(dict.fromkeys(call.function for call in told))
        arguments = parse(self._hide(written(told[0].arguments)))
        return replace(
            told[0],
            sender="" if several else told[0].sender,
            function=names,
            arguments=arguments if isinstance(arguments, dict) else {},
            result=self._hide(result)[:LONGEST_ANSWER],
        )

    def _calls(self, exchange: RawExchange) -> Iterator[ContractCall]:
        asked, answers = _entries(exchange.request_body), _entries(exchange.response_body)
        replies = {str(_member(answer, "id")): answer for answer in answers}
        for request in asked:
            reply = replies.get(str(_member(request, "id")))
            with suppress(DecodingError, ValueError, OverflowError):
                match _member(request, "method"), _member(request, "params"):
                    case ("eth_call" | "eth_estimateGas") as method, [dict(call), *_]:
                        data = bytes.fromhex(str(call.get("data")).removeprefix("0x"))
                        # An estimate that holds is followed by the write.
                        if method == "eth_call" or _member(reply, "error"):
                            yield self._called(str(call.get("from", "")), data, reply)
                    case "eth_sendRawTransaction", [str(raw)]:
                        sender, transaction = opened(raw)
                        data = transaction.data
                        if data.startswith(selector(EXECUTE)):
                            sender = str(transaction.to)
                            _, inner = decode(["address", "bytes"], data[SELECTOR_BYTES:])
                            data = inner if isinstance(inner, bytes) else b""
                        yield self._sent(sender, data, reply, answers)

    def _called(self, sender: str, data: bytes, reply: object) -> ContractCall:
        """A view, or the dry run of a write."""
        function, arguments = self._decoded(data)
        failed = _member(reply, "error")
        if function.name in self._views:
            result = "reverts" if failed else _results(function, _member(reply, "result"))
            return ContractCall(sender, function.name, arguments, result)
        return ContractCall(sender, f"dry run of {function.name}", arguments, "reverts" if failed else "goes through")

    def _sent(self, sender: str, data: bytes, reply: object, answers: Sequence[object]) -> ContractCall:
        function, arguments = self._decoded(data)
        states = [_member(_member(answer, "result"), "status") for answer in answers]
        result = "reverted" if "0x0" in states else "mined" if "0x1" in states else "sent"
        if _member(reply, "error"):
            result = f"refused: {_member(_member(reply, 'error'), 'message')}"
        return ContractCall(sender, function.name, arguments, result, is_write=True)

    def _decoded(self, data: bytes) -> tuple[Function, dict[str, object]]:
        """The function and its arguments. Raises ValueError for a function that is not known."""
        function = self._functions.get(data[:SELECTOR_BYTES])
        if function is None:
            raise ValueError("no function of the contract")
        return function, _by_name(function.inputs, data[SELECTOR_BYTES:])


def own_names(session: Session) -> dict[str, str]:
    """The addresses and hashes by which the chain knows the case's wallets and keys, by what a report calls them.

    The variable of a key stands for its name. The payers of the node are among the wallets.
    """
    payers = [*known_payers(session).items()]
    told = payers if len(payers) <= MOST_PAYERS else [*payers[: MOST_PAYERS - 1], payers[-1]]
    names: dict[str, str] = {f"{called}'s wallet": address for called, address in told}
    for wallet in session.wallets:
        names[f"{wallet.name}'s wallet"] = wallet.address
        names[f"{wallet.name}'s account"] = wallet_hash(wallet.address)
    for key, variable in session.secrets.names.items():
        with suppress(StepProblem, ValueError), read_aside():
            names[f"{variable}'s account"] = account_hash(key, session.profile)
            names[f"{variable}'s hash"] = usage_key_hash(key, session.profile)
    return names


def _stated(session: Session) -> dict[str, str]:
    abi = session.profile.chain.abi
    sections = [section for section in (abi.account, abi.attach, abi.writes) if section is not None]
    return {name: str(value) for section in sections for name, value in section if value is not None}


def _entries(body: str | None) -> Sequence[object]:
    """The requests or answers of a JSON-RPC body, which may be a batch."""
    with suppress(ValueError):
        value = parse(body or "")
        return value if isinstance(value, list) else [value]
    return []


def _member(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, dict) else None


def _by_name(parameters: Sequence[Parameter], data: bytes) -> dict[str, object]:
    return _members(parameters, decode([parameter.type for parameter in parameters], data))


def _members(parameters: Sequence[Parameter], values: Sequence[object]) -> dict[str, object]:
    pairs = zip(parameters, values, strict=True)
    return {one.name or str(place): _shown(one, value) for place, (one, value) in enumerate(pairs)}


def _shown(parameter: Parameter, value: object) -> object:
    """A decoded value as JSON: hashes and bytes in hex, structs by their members."""
    if isinstance(value, tuple | list) and parameter.type.endswith("]"):
        item = Parameter(parameter.type.rpartition("[")[0], parameter.name, parameter.members)
        return [_shown(item, one) for one in value]
    if isinstance(value, tuple | list):
        return _members(parameter.members, value)
    if isinstance(value, bytes):
        return f"0x{value.hex()}"
    if isinstance(value, int) and value >= SHOWN_AS_HEX:
        return f"0x{value:064x}"
    return to_checksum_address(str(value)) if parameter.type == "address" else value


def _results(function: Function, result: object) -> str:
    return written(_by_name(function.outputs, bytes.fromhex(str(result).removeprefix("0x"))))
