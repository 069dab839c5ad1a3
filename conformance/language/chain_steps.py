"""Steps about the chain: the contract's views."""

from __future__ import annotations

from pydantic import Field, JsonValue

from conformance.language.form import Judging, Members, Variable


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
