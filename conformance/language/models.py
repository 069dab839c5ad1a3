"""The form of a pack file, as models, from which the JSON Schema is made. docs/pack-reference.md lists each member."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, JsonValue, StringConstraints, Tag

from conformance.service.refusal import RefusalClass

Kebab = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
PackName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(_[a-z0-9]+)*$")]
Variable = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$")]
ProfileReference = Annotated[str, StringConstraints(pattern=r"^\$\{profile\.[a-z0-9_.]+\}$")]
Text = Annotated[str, StringConstraints(min_length=1)]
Members = dict[str, JsonValue]
Reference = Annotated[str, StringConstraints(pattern=r"^\$\{.+\}$")]
"""A text that is one `${variable}` and nothing else."""
Refused = RefusalClass | Annotated[list[RefusalClass], Field(min_length=1)] | ProfileReference


Rows = Annotated[list[dict[Variable, JsonValue]], Field(min_length=1)]
Times = Annotated[int, Field(ge=0)] | Reference
Rounds = Annotated[int, Field(ge=2)] | Reference


class Form(BaseModel):
    """Any part of a pack: unknown members and values of another type are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True)


class Judging(Form):
    """A step that may judge; one that makes something for the case never does."""

    id: Kebab | None = None
    judges: list[str] | None = None
    """The requirements of the case that the step is about: a departure in it breaks these, and no others; `[]`: set-up.

    Default: the requirement of a case that has one alone, for a step that says what must come of it; else none.
    """


class ChainSecured(Form):
    """How a ChainSecured account comes to be."""

    admin: Text
    """The wallet that makes it and is its admin: its name."""


class WalletStep(Form):
    """A fresh wallet of the suite's own, or an account's."""

    wallet: Variable
    """Its name: `from: NAME` sends with it, `${NAME}` is its address."""
    of_account_key: Text | None = None
    """The account key whose wallet it is, by the profile's `crypto.account_wallet_derivation`."""
    id: Kebab | None = None


class ContractWalletStep(Form):
    """A contract account (ERC-1271) on the chain, which one wallet owns."""

    contract_wallet: Variable
    """Its name: `from: NAME` has its owner send through it, `${NAME}` is its address."""
    owner: Text
    """The wallet that deploys and owns it: its name."""
    id: Kebab | None = None


class AccountStep(Form):
    """A fresh account of the case's own."""

    account: Variable
    """Its name: `as: NAME` acts with its key, `${NAME}` is its key."""
    id: Kebab | None = None
    with_: Members = Field(default={}, alias="with")
    """Members of the account-creation body by canonical name, beside those that the suite gives."""
    chain_secured: ChainSecured | None = None
    """A wallet makes it on the chain; it has no key, and `${NAME}` is its `apiKeyHash`."""


class NewWalletStep(Form):
    """A wallet of an account, or several."""

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
    """`pkp_ids_permitted` and `cid_hashes_permitted`; what is left out is empty."""
    id: Kebab | None = None


class NewKeyStep(Form):
    """A usage key of an account."""

    new_key: Variable
    """Its name: `${NAME}` is the key."""
    as_: str | None = Field(default=None, alias="as")
    """Who makes it. Default: the case's first account."""
    with_: Members = Field(default={}, alias="with")
    """Permission fields; what is left out is not granted."""
    id: Kebab | None = None


class Body(Form):
    """An exact body."""

    raw: str | None = None
    """The text itself."""
    json_: JsonValue = Field(default=None, alias="json")
    """A JSON value with wire names."""


class Request(Judging):
    """What `call` and `list` share."""

    as_: str | None = Field(default=None, alias="as")
    """The name of an account, `${variable}` with a key, or `nobody`. Default: the case's first account."""
    via: Literal["x-api-key", "bearer"] | Reference = "x-api-key"
    """The header that carries the key."""
    with_: Members | Reference = Field(default={}, alias="with")
    """Members of the request by canonical name, or a variable that holds them."""
    extra: Members = {}
    """Members that the operation does not have, sent beside the others to see what becomes of them."""
    headers: dict[str, str | None] = {}
    """More headers; null leaves out one that the suite would send."""
    save: dict[Variable, str] = {}
    """Variable to path in the answer."""
    expect: Members = {}
    """Path in the answer to matcher."""


class ListStep(Request):
    """Every page of a list."""

    list_: str = Field(alias="list")
    """The operation."""
    page_size: Annotated[int, Field(ge=1)] | Reference | None = None
    """Default: the largest that the profile allows."""


class CallStep(Request):
    """One request."""

    call: str
    """The operation."""
    body: Body | None = None
    """An exact body instead of `with`."""
    method: Annotated[str, StringConstraints(pattern=r"^[A-Z]+$")] | None = None
    """Another HTTP method than the operation's."""
    path: Annotated[str, StringConstraints(pattern=r"^/\S*$")] | None = None
    """Another path under the node's address than the operation's, with its query if it has one."""
    refused: Refused | None = None
    """The class of refusal that must come; a profile key whose value is a class, or else means that it is accepted."""
    may_be_refused: Refused | None = None
    """Accepted is right, and refused like this is right, too."""
    fails: bool | Literal["either"] = False
    """Of a permitted run: the code must end with an error, or may; by the profile's `exec.failure_and_limits`."""
    control: Kebab | None = None
    """The earlier accepted step that this refusal is held against."""
    unchanged: list[Text | UnchangedRead] | None = None
    """Reads that must give the same before and after a refused write."""


class UnchangedRead(Form):
    """A read that must give the same before and after."""

    list_: str | None = Field(default=None, alias="list")
    """A list operation, read completely."""
    call: str | None = None
    """A read that is not a list."""
    chain: str | None = None
    """A view of the account contract; `with` is then the list of its arguments."""
    as_: str | None = Field(default=None, alias="as")
    """Who reads. Default: the case's first account."""
    with_: Members | list[JsonValue] | Reference = Field(default={}, alias="with")
    """Members of the request, or the view's arguments."""


class LetStep(Judging):
    """Computed variables."""

    let: Annotated[dict[Variable, JsonValue], Field(min_length=1)]
    """Variable to a value, or to one function with its argument; several arguments are a list."""


class CheckStep(Judging):
    """A comparison."""

    check: Annotated[Members, Field(min_length=1)]
    """`that`, matchers, and optionally `why`."""


class Repeat(Form):
    """Steps several times in sequence."""

    times: Rounds | None = None
    """How often, more than once; `${index}` counts from 0."""
    each: Rows | None = None
    """Rows of variables, one for each round, instead of `times`; each has an `id`. `judges` in a row is none: it names
    those of the requirements that its steps judge which this round is about."""
    steps: Annotated[list[Step], Field(min_length=1)]
    """What each round does. What it saves, the last round's value stays."""


class RepeatStep(Judging):
    """Steps several times in sequence."""

    repeat: Repeat
    """The rounds."""


class Crowd(Form):
    """One step several times at once."""

    times: Times
    """How often."""
    step: CallStep
    """What is called; `${index}` counts from 0."""
    save: dict[Variable, Literal[""]] = {}
    """Variable to `""`: an array of `{accepted, status, answer}`."""


class ParallelStep(Judging):
    """Steps at the same time."""

    parallel: Annotated[list[Step], Field(min_length=1)] | Crowd
    """Different steps, or one step several times. Steps of one `parallel` do not see each other's variables."""


class ChainStep(Judging):
    """A view of the account contract."""

    chain: str
    """Its canonical name in the profile's `chain.abi`."""
    with_: list[JsonValue] = Field(default=[], alias="with")
    """The arguments in order."""
    save: dict[Variable, str] = {}
    """Variable to path in the answer."""
    expect: Members = {}
    """Path in the answer to matcher."""


class RpcStep(Judging):
    """A JSON-RPC method of the chain."""

    rpc: Annotated[str, StringConstraints(pattern=r"^[a-z]+_[A-Za-z0-9]+$")]
    """The method."""
    with_: list[JsonValue] = Field(default=[], alias="with")
    """The parameters in order."""
    save: dict[Variable, str] = {}
    """Variable to path in the answer."""
    expect: Members = {}
    """Path in the answer to matcher."""


class DryRunStep(Judging):
    """A write of the account contract, asked by eth_call: nothing is sent and nothing changes."""

    dry_run: str
    """Its canonical name in the profile's `chain.abi`."""
    from_: Text = Field(alias="from")
    """The address that would send it."""
    with_: list[JsonValue] = Field(default=[], alias="with")
    """The arguments in order."""
    reverts: bool = False
    """Whether the contract has to refuse it."""
    control: Kebab | None = None
    """The earlier dry run of the same function, by another address, that must go through; needed by `reverts`."""


class SendStep(Judging):
    """A transaction to the account contract, sent by a wallet of the suite's own, and mined."""

    send: str
    """The function's canonical name in the profile's `chain.abi`."""
    from_: Text = Field(alias="from")
    """The wallet that sends it: its name, or `${variable}` with its address."""
    with_: list[JsonValue] = Field(default=[], alias="with")
    """The arguments in order."""
    reverts: bool | Literal["either"] = False
    """Whether the contract has to refuse it; `either` where it may."""
    control: Kebab | None = None
    """The earlier `send` of the same function that the contract took; needed by `reverts: true`."""
    unchanged: list[Text | UnchangedRead] | None = None
    """Reads that must give the same before and after; needed by `reverts: true` and `either`."""
    save: dict[Variable, str] = {}
    """Variable to path in the receipt: {hash, block, gas_used, logs}."""
    expect: Members = {}
    """Path in the receipt to matcher."""


class ClockAt(Form):
    """A time."""

    at: int | Reference
    """Unix seconds."""


class ClockStep(Form):
    """The node's clock, moved until the case ends."""

    clock: int | Reference | ClockAt
    """So many seconds from the right time, or to a time."""
    id: Kebab | None = None


class Mined(Form):
    """Which transactions."""

    after: int | Reference
    """The number of the last block that does not count."""
    holding: Text | None = None
    """Hex digits without 0x that the calldata hold. Default: all transactions."""


class TransactionsStep(Judging):
    """The transactions that the chain mined after a block, with their logs."""

    transactions: Mined
    """Which ones."""
    save: dict[Variable, str] = {}
    """Variable to path in the answer."""
    expect: Members = {}
    """Path in the answer to matcher."""


KINDS = (
    "account",
    "call",
    "list",
    "let",
    "check",
    "parallel",
    "repeat",
    "chain",
    "rpc",
    "dry_run",
    "transactions",
    "wallet",
    "contract_wallet",
    "new_wallet",
    "new_group",
    "new_key",
    "send",
    "clock",
)


def _kind(step: object) -> str | None:
    if isinstance(step, dict):
        found = [kind for kind in KINDS if kind in step]
        return f"{found[0]} step" if len(found) == 1 else None
    return None


Step = Annotated[
    Annotated[AccountStep, Tag("account step")]
    | Annotated[CallStep, Tag("call step")]
    | Annotated[ListStep, Tag("list step")]
    | Annotated[LetStep, Tag("let step")]
    | Annotated[CheckStep, Tag("check step")]
    | Annotated[ParallelStep, Tag("parallel step")]
    | Annotated[RepeatStep, Tag("repeat step")]
    | Annotated[ChainStep, Tag("chain step")]
    | Annotated[RpcStep, Tag("rpc step")]
    | Annotated[DryRunStep, Tag("dry_run step")]
    | Annotated[TransactionsStep, Tag("transactions step")]
    | Annotated[WalletStep, Tag("wallet step")]
    | Annotated[ContractWalletStep, Tag("contract_wallet step")]
    | Annotated[NewWalletStep, Tag("new_wallet step")]
    | Annotated[NewGroupStep, Tag("new_group step")]
    | Annotated[NewKeyStep, Tag("new_key step")]
    | Annotated[SendStep, Tag("send step")]
    | Annotated[ClockStep, Tag("clock step")],
    Discriminator(
        _kind,
        custom_error_type="step_kind",
        custom_error_message=f"a step has exactly one of the members {', '.join(KINDS)}",
    ),
]


class CaseForm(Form):
    """What every case has, whichever driver runs it."""

    id: Kebab
    """In kebab case, unique in the pack. `--case` takes `pack::id`, or `pack::id[row]`."""
    title: Text
    """What a correct node does, in one sentence."""
    requirements: Annotated[list[str], Field(min_length=1)]
    """Ids of the requirement catalogue."""
    needs: list[str] = []
    """Capabilities, beside those of the pack."""
    uses: list[str | Annotated[dict[str, JsonValue], Field(min_length=1)]] = []
    """Profile keys that must not be null, or `{key: value}`, `{key: [values]}`: the profile must say one of these."""
    each: Rows | None = None
    """Rows of variables; each has an `id`."""


class SteppedCase(CaseForm):
    """A case that is told in steps, whatever else its driver does with them."""

    setup: list[Step] = []
    """What leads up to the matter; trouble here is inconclusive."""
    steps: Annotated[list[Step], Field(min_length=1)]
    """The matter itself; a departure in a step that judges is a failure."""


class StepsCase(SteppedCase):
    """A case told in steps."""

    driver: Literal["steps"] = "steps"


class PackForm(Form):
    """A pack file."""

    pack: PackName
    """The file's name without `.yaml`."""
    title: Text
    """What it is about."""
    needs: list[str] = []
    """Capabilities that every case needs."""
    opt_in: bool = False
    """Whether it runs only where its own name is asked for."""
    cases: Annotated[list[Members], Field(min_length=1)]
    """Its cases."""


CallStep.model_rebuild()
SendStep.model_rebuild()
Repeat.model_rebuild()
ParallelStep.model_rebuild()
