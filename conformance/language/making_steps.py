"""Steps that make objects for the case: accounts, groups, usage keys, and wallets."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from conformance.language.form import Form, Kebab, Members, Text, Variable


class ChainSecured(Form):
    """How to make a ChainSecured account."""

    admin: Text
    """The name of the wallet that makes the account and becomes its admin."""


class WalletStep(Form):
    """A fresh wallet of the suite, or the wallet of an account key."""

    wallet: Variable
    """Its name: `from: NAME` sends from it, `${NAME}` is its address."""
    of_account_key: Text | None = None
    """The account key whose wallet it is, by the profile's `crypto.account_wallet_derivation`."""
    id: Kebab | None = None


class AccountStep(Form):
    """A fresh account."""

    account: Variable
    """Its name: `as: NAME` acts with its key, `${NAME}` is its key."""
    id: Kebab | None = None
    with_: Members = Field(default={}, alias="with")
    """Members of the account-creation body by canonical name, in addition to the suite's own."""
    chain_secured: ChainSecured | None = None
    """Makes a ChainSecured account on the chain. It has no key; `${NAME}` is its `apiKeyHash`."""


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
