"""The models of a pack, its cases and its steps. The JSON Schema and docs/pack-reference.md are generated from them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Discriminator, Field, JsonValue, Tag

from conformance.language.form import Form, Kebab, Members, PackName, Refused, Text, Variable


class AccountStep(Form):
    """A fresh account."""

    account: Variable
    """Its name: `as: NAME` acts with its key, `${NAME}` is its key."""
    id: Kebab | None = None


class NewWalletStep(Form):
    """A wallet (PKP) of the case's first account."""

    new_wallet: Variable
    """Its name: `${NAME.id}` is its PKP id, `${NAME.address}` its address."""
    id: Kebab | None = None


class NewGroupStep(Form):
    """A group of the case's first account."""

    new_group: Variable
    """Its name: `${NAME.id}` is its id as lists show it."""
    with_: Members = Field(default={}, alias="with")
    """`pkp_ids_permitted` and `cid_hashes_permitted`. Default of each: an empty list."""
    id: Kebab | None = None


class NewKeyStep(Form):
    """A usage key of the case's first account."""

    new_key: Variable
    """Its name: `${NAME}` is the key."""
    with_: Members = Field(default={}, alias="with")
    """Permission fields. A field that is left out grants nothing."""
    id: Kebab | None = None


class Request(Form):
    """The members that `call` and `list` share."""

    id: Kebab | None = None
    judges: list[str] | None = None
    """The requirements of the case that a departure in this step breaks; `[]` makes the step set-up.

    Default: the case's requirement, where it has only one and the step states an expectation; else none.
    """
    as_: str | None = Field(default=None, alias="as")
    """The name of an account, `${variable}` with a key, or `nobody`. Default: the case's first account."""
    with_: Members = Field(default={}, alias="with")
    """Members of the request by canonical name."""
    extra: Members = Field(default={})
    """Members that the operation does not have, sent in addition."""
    save: dict[Variable, str] = Field(default={})
    """Variable to path in the answer."""
    expect: Members = Field(default={})
    """Path in the answer to matcher."""


class ListStep(Request):
    """A request for every page of a list."""

    list_: str = Field(alias="list")
    """The operation."""


class CallStep(Request):
    """One request."""

    call: str
    """The operation."""
    refused: Refused | None = None
    """The class of the refusal that is required."""
    may_be_refused: Refused | None = None
    """The class of a refusal that is permitted: the request may also be accepted."""
    control: Kebab | None = None
    """The id of the earlier accepted step that the refusal is compared with."""
    unchanged: list[Text] | None = None
    """Lists, or other reads, of the case's first account that must return the same before and after a refused write."""


KINDS = ("account", "call", "list", "new_wallet", "new_group", "new_key")


def _kind(step: object) -> str | None:
    if isinstance(step, dict):
        kinds = [kind for kind in KINDS if kind in step]
        return f"{kinds[0]} step" if len(kinds) == 1 else None
    return None


MakingStep = AccountStep | NewWalletStep | NewGroupStep | NewKeyStep
Step = Annotated[
    Annotated[AccountStep, Tag("account step")]
    | Annotated[CallStep, Tag("call step")]
    | Annotated[ListStep, Tag("list step")]
    | Annotated[NewWalletStep, Tag("new_wallet step")]
    | Annotated[NewGroupStep, Tag("new_group step")]
    | Annotated[NewKeyStep, Tag("new_key step")],
    Discriminator(
        _kind,
        custom_error_type="step_kind",
        custom_error_message=f"a step has exactly one of the members {', '.join(KINDS)}",
    ),
]


class CaseForm(Form):
    """The members of every case, whichever driver runs it."""

    id: Kebab
    """In kebab case, unique in the pack. `--case` takes `pack::id`, or `pack::id[row]`."""
    title: Text
    """What a conforming node does, in one sentence."""
    requirements: Annotated[list[str], Field(min_length=1)]
    """Ids of the requirement catalogue."""
    needs: list[str] = Field(default=[])
    """Capabilities that the case needs, in addition to those of the pack."""
    uses: list[str | Annotated[dict[str, JsonValue], Field(min_length=1)]] = Field(default=[])
    """Profile keys that must not be null, or `{key: value}`, `{key: [values]}`: the profile must state one of these."""
    each: Annotated[list[dict[Variable, JsonValue]], Field(min_length=1)] | None = None
    """Rows of variables; each has an `id`."""


class StepsCase(CaseForm):
    """A case that runs its steps in order."""

    driver: Literal["steps"] = "steps"
    setup: list[Step] = Field(default=[])
    """Steps that prepare the case. A departure in one of them makes the case inconclusive."""
    steps: Annotated[list[Step], Field(min_length=1)]
    """The steps that are judged. A departure in a step that judges fails the case."""


class PackForm(Form):
    """A pack file."""

    pack: PackName
    """The file's name without `.yaml`."""
    title: Text
    """The subject of the pack."""
    needs: list[str] = Field(default=[])
    """Capabilities that every case needs."""
    opt_in: bool = False
    """Whether the pack runs only when it is named."""
    cases: Annotated[list[Members], Field(min_length=1)]
    """Its cases."""
