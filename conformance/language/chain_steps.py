"""Steps about the chain: the contract's views and writes, JSON-RPC, and the node's clock."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, JsonValue, StringConstraints

from conformance.language.form import Form, Judging, Kebab, Members, Reference, Text, UnchangedRead, Variable


class ChainStep(Judging):
    """A call of a view of the account contract."""

    chain: str
    """Its canonical name in the profile's `chain.abi`."""
    with_: list[JsonValue] = Field(default=[], alias="with")
    """The arguments in order."""
    save: dict[Variable, str] = Field(default={})
    """Variable to path in the answer."""
    expect: Members = Field(default={})
    """Path in the answer to matcher."""


class RpcStep(Judging):
    """A call of a JSON-RPC method of the chain."""

    rpc: Annotated[str, StringConstraints(pattern=r"^[a-z]+_[A-Za-z0-9]+$")]
    """The method."""
    with_: list[JsonValue] = Field(default=[], alias="with")
    """The parameters in order."""
    save: dict[Variable, str] = Field(default={})
    """Variable to path in the answer."""
    expect: Members = Field(default={})
    """Path in the answer to matcher."""


class SendStep(Judging):
    """A transaction to the account contract from a wallet of the suite. The step ends when it is mined."""

    send: str
    """The function's canonical name in the profile's `chain.abi`."""
    from_: Text = Field(alias="from")
    """The wallet that sends it: the wallet's name, or a `${variable}` with its address."""
    with_: list[JsonValue] = Field(default=[], alias="with")
    """The arguments in order."""
    reverts: bool | Literal["either"] = False
    """Whether the contract has to revert it; `either` permits both."""
    control: Kebab | None = None
    """The id of an earlier `send` of the same function that did not revert. `reverts: true` requires it."""
    unchanged: list[Text | UnchangedRead] | None = None
    """Reads that must return the same before and after. `reverts: true` and `either` require them."""
    save: dict[Variable, str] = Field(default={})
    """Variable to path in the receipt: {hash, block, gas_used, logs}."""
    expect: Members = Field(default={})
    """Path in the receipt to matcher."""


class ClockAt(Form):
    """A time."""

    at: int | Reference
    """Unix seconds."""


class ClockStep(Form):
    """Moves the node's clock until the case ends."""

    clock: int | Reference | ClockAt
    """The offset from the right time in seconds, or the time to set."""
    id: Kebab | None = None
