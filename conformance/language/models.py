"""The models of a pack, its cases and its steps. The JSON Schema and docs/pack-reference.md are generated from them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Discriminator, Field, JsonValue, StringConstraints, Tag

from conformance.language.chain_steps import ChainStep
from conformance.language.form import (
    Form,
    Judging,
    Kebab,
    Members,
    PackName,
    Reference,
    Refused,
    Rounds,
    Rows,
    Text,
    UnchangedRead,
    Variable,
)
from conformance.language.making_steps import AccountStep, NewGroupStep, NewKeyStep, NewWalletStep


class Body(Form):
    """An exact body."""

    raw: str | None = None
    """The text of the body."""
    json_: JsonValue = Field(default=None, alias="json")
    """A JSON value with wire names."""


class Request(Judging):
    """The members that `call` and `list` share."""

    as_: str | None = Field(default=None, alias="as")
    """The name of an account, `${variable}` with a key, or `nobody`. Default: the case's first account."""
    with_: Members | Reference = Field(default={}, alias="with")
    """Members of the request by canonical name, or a variable that holds them."""
    extra: Members = Field(default={})
    """Members that the operation does not have, sent in addition."""
    save: dict[Variable, str] = Field(default={})
    """Variable to path in the answer."""
    expect: Members = Field(default={})
    """Path in the answer to matcher."""
    why: Text = ""
    """What the node has to do here, in a sentence without brackets; a failure tells it before the matchers."""


class ListStep(Request):
    """A request for every page of a list."""

    list_: str = Field(alias="list")
    """The operation."""


class CallStep(Request):
    """One request."""

    call: str
    """The operation."""
    body: Body | None = None
    """An exact body instead of `with`."""
    method: Annotated[str, StringConstraints(pattern=r"^[A-Z]+$")] | None = None
    """An HTTP method other than the operation's."""
    path: Annotated[str, StringConstraints(pattern=r"^/\S*$")] | None = None
    """A path under the node's address other than the operation's, with its query if it has one."""
    refused: Refused | None = None
    """The class of the refusal that is required."""
    may_be_refused: Refused | None = None
    """The class of a refusal that is permitted: the request may also be accepted."""
    fails: bool | Literal["either"] = False
    """For a permitted run: the code has to fail, or with `either` may fail, by the profile's
    `exec.failure_and_limits`."""
    control: Kebab | None = None
    """The id of the earlier accepted step that the refusal is compared with."""
    unchanged: list[Text | UnchangedRead] | None = None
    """Reads that must return the same before and after a refused write."""


class LetStep(Judging):
    """Computed variables."""

    let: Annotated[dict[Variable, JsonValue], Field(min_length=1)]
    """Variable to a value, or to one function with its argument or list of arguments."""


class CheckStep(Judging):
    """A comparison."""

    check: Annotated[Members, Field(min_length=1)]
    """`that`, matchers, and optionally `why`."""


class Repeat(Form):
    """Steps several times in sequence."""

    times: Rounds | None = None
    """How often, more than once; `${index}` counts from 0."""
    each: Rows | None = None
    """Rows of variables, one for each round, instead of `times`; each has an `id`. The member `judges` of a row is no
    variable: it limits this round to some of the requirements that its steps judge."""
    steps: Annotated[list[Step], Field(min_length=1)]
    """The steps of each round. A saved variable keeps the value of the last round."""


class RepeatStep(Judging):
    """Steps several times in sequence."""

    repeat: Repeat
    """The rounds."""


KINDS = (
    "account",
    "call",
    "list",
    "let",
    "check",
    "repeat",
    "chain",
    "new_wallet",
    "new_group",
    "new_key",
)


def _kind(step: object) -> str | None:
    if isinstance(step, dict):
        kinds = [kind for kind in KINDS if kind in step]
        return f"{kinds[0]} step" if len(kinds) == 1 else None
    return None


Step = Annotated[
    Annotated[AccountStep, Tag("account step")]
    | Annotated[CallStep, Tag("call step")]
    | Annotated[ListStep, Tag("list step")]
    | Annotated[LetStep, Tag("let step")]
    | Annotated[CheckStep, Tag("check step")]
    | Annotated[RepeatStep, Tag("repeat step")]
    | Annotated[ChainStep, Tag("chain step")]
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
    each: Rows | None = None
    """Rows of variables; each has an `id`."""


class SteppedCase(CaseForm):
    """A case with steps, for any driver."""

    setup: list[Step] = Field(default=[])
    """Steps that prepare the case. A departure in one of them makes the case inconclusive."""
    steps: Annotated[list[Step], Field(min_length=1)]
    """The steps that are judged. A departure in a step that judges fails the case."""


class StepsCase(SteppedCase):
    """A case that runs its steps in order."""

    driver: Literal["steps"] = "steps"


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


CallStep.model_rebuild()
Repeat.model_rebuild()
