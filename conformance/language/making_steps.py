"""Steps that make objects for the case: accounts, wallets, groups and usage keys."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from conformance.language.form import Form, Kebab, Members, Variable


class AccountStep(Form):
    """A fresh account."""

    account: Variable
    """Its name: `as: NAME` acts with its key, `${NAME}` is its key."""
    id: Kebab | None = None
    with_: Members = Field(default={}, alias="with")
    """Members of the account-creation body by canonical name, in addition to the suite's own."""


class NewWalletStep(Form):
    """One or several wallets (PKPs) of an account."""

    new_wallet: Variable | Annotated[list[Variable], Field(min_length=1)]
    """Its name: `${NAME.id}` is its PKP id, `${NAME.address}` its address. Several names: as many wallets."""
    as_: str | None = Field(default=None, alias="as")
    """Who makes it. Default: the case's first account."""
    id: Kebab | None = None


class NewGroupStep(Form):
    """A group of an account."""

    new_group: Variable
    """Its name: `${NAME.id}` is its id as lists show it."""
    as_: str | None = Field(default=None, alias="as")
    """Who makes it. Default: the case's first account."""
    with_: Members = Field(default={}, alias="with")
    """`pkp_ids_permitted` and `cid_hashes_permitted`. Default of each: an empty list."""
    id: Kebab | None = None


class NewKeyStep(Form):
    """A usage key of an account."""

    new_key: Variable
    """Its name: `${NAME}` is the key."""
    as_: str | None = Field(default=None, alias="as")
    """Who makes it. Default: the case's first account."""
    with_: Members = Field(default={}, alias="with")
    """Permission fields. A field that is left out grants nothing."""
    id: Kebab | None = None
