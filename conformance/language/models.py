"""The models of a pack file. The JSON Schema and docs/pack-reference.md are generated from them."""

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
"""A text that consists of one `${variable}`."""
Refused = RefusalClass | Annotated[list[RefusalClass], Field(min_length=1)] | ProfileReference


Rows = Annotated[list[dict[Variable, JsonValue]], Field(min_length=1)]
Times = Annotated[int, Field(ge=0)] | Reference
Rounds = Annotated[int, Field(ge=2)] | Reference


class Form(BaseModel):
    """Any part of a pack: unknown members and values of another type are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True)


class Judging(Form):
    """A step that may judge requirements. Steps that only make objects for the case never do."""

    id: Kebab | None = None
    judges: list[str] | None = None
    """The requirements of the case that a departure in this step breaks; `[]` makes the step set-up.

    Default: the case's requirement, where it has only one and the step states an expectation; else none.
    """


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


class ContractWalletStep(Form):
    """A contract account (ERC-1271) on the chain, which one wallet owns."""

    contract_wallet: Variable
    """Its name: `from: NAME` has its owner send through it, `${NAME}` is its address."""
    owner: Text
    """The name of the wallet that deploys and owns it."""
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
    via: Literal["x-api-key", "bearer"] | Reference = "x-api-key"
    """The header that carries the key."""
    with_: Members | Reference = Field(default={}, alias="with")
    """Members of the request by canonical name, or a variable that holds them."""
    extra: Members = {}
    """Members that the operation does not have, sent in addition."""
    headers: dict[str, str | None] = {}
    """Further headers; null leaves out a header that the suite would send."""
    save: dict[Variable, str] = {}
    """Variable to path in the answer."""
    expect: Members = {}
    """Path in the answer to matcher."""


class ListStep(Request):
    """A request for every page of a list."""

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
    """An HTTP method other than the operation's."""
    path: Annotated[str, StringConstraints(pattern=r"^/\S*$")] | None = None
    """A path under the node's address other than the operation's, with its query if it has one."""
    refused: Refused | None = None
    """The class of the refusal that is required. A profile key may hold the class; with any other value, the request
    has to be accepted."""
    may_be_refused: Refused | None = None
    """The class of a refusal that is permitted: the request may also be accepted."""
    fails: bool | Literal["either"] = False
    """For a permitted run: the code has to fail, or with `either` may fail, by the profile's
    `exec.failure_and_limits`."""
    control: Kebab | None = None
    """The id of the earlier accepted step that the refusal is compared with."""
    unchanged: list[Text | UnchangedRead] | None = None
    """Reads that must return the same before and after a refused write."""


class UnchangedRead(Form):
    """A read that must return the same before and after the refused request."""

    list_: str | None = Field(default=None, alias="list")
    """A list operation, of which every page is read."""
    call: str | None = None
    """An operation that reads and is not a list."""
    chain: str | None = None
    """A view of the account contract; `with` is then the list of its arguments."""
    as_: str | None = Field(default=None, alias="as")
    """Who reads. Default: the case's first account."""
    with_: Members | list[JsonValue] | Reference = Field(default={}, alias="with")
    """Members of the request, or the view's arguments."""


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


class Crowd(Form):
    """One request, sent several times in parallel."""

    times: Times
    """How often."""
    step: CallStep
    """The request; `${index}` counts from 0."""
    save: dict[Variable, Literal[""]] = {}
    """Variable to `""`: an array of `{accepted, status, answer}`."""


class ParallelStep(Judging):
    """Steps that run in parallel."""

    parallel: Annotated[list[Step], Field(min_length=1)] | Crowd
    """Different steps, or one step several times. Steps of one `parallel` do not see each other's variables."""


class ChainStep(Judging):
    """A call of a view of the account contract."""

    chain: str
    """Its canonical name in the profile's `chain.abi`."""
    with_: list[JsonValue] = Field(default=[], alias="with")
    """The arguments in order."""
    save: dict[Variable, str] = {}
    """Variable to path in the answer."""
    expect: Members = {}
    """Path in the answer to matcher."""


class RpcStep(Judging):
    """A call of a JSON-RPC method of the chain."""

    rpc: Annotated[str, StringConstraints(pattern=r"^[a-z]+_[A-Za-z0-9]+$")]
    """The method."""
    with_: list[JsonValue] = Field(default=[], alias="with")
    """The parameters in order."""
    save: dict[Variable, str] = {}
    """Variable to path in the answer."""
    expect: Members = {}
    """Path in the answer to matcher."""


class DryRunStep(Judging):
    """A write of the account contract by `eth_call`, which sends no transaction and changes nothing."""

    dry_run: str
    """Its canonical name in the profile's `chain.abi`."""
    from_: Text = Field(alias="from")
    """The address of the sender."""
    with_: list[JsonValue] = Field(default=[], alias="with")
    """The arguments in order."""
    reverts: bool = False
    """Whether the contract has to revert it."""
    control: Kebab | None = None
    """The id of an earlier dry run of the same function, from another address, that must not revert. `reverts` requires
    it."""


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
    save: dict[Variable, str] = {}
    """Variable to path in the receipt: {hash, block, gas_used, logs}."""
    expect: Members = {}
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


class Mined(Form):
    """Selects transactions."""

    after: int | Reference
    """The number of the last block that does not count."""
    holding: Text | None = None
    """Hex digits without 0x that the calldata have to contain. Default: all transactions."""


class TransactionsStep(Judging):
    """The transactions that the chain mined after a block, with their logs."""

    transactions: Mined
    """Selects the transactions."""
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
        kinds = [kind for kind in KINDS if kind in step]
        return f"{kinds[0]} step" if len(kinds) == 1 else None
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
    """The members of every case, whichever driver runs it."""

    id: Kebab
    """In kebab case, unique in the pack. `--case` takes `pack::id`, or `pack::id[row]`."""
    title: Text
    """What a conforming node does, in one sentence."""
    requirements: Annotated[list[str], Field(min_length=1)]
    """Ids of the requirement catalogue."""
    needs: list[str] = []
    """Capabilities that the case needs, in addition to those of the pack."""
    uses: list[str | Annotated[dict[str, JsonValue], Field(min_length=1)]] = []
    """Profile keys that must not be null, or `{key: value}`, `{key: [values]}`: the profile must state one of these."""
    each: Rows | None = None
    """Rows of variables; each has an `id`."""


class SteppedCase(CaseForm):
    """A case with steps, for any driver."""

    setup: list[Step] = []
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
    needs: list[str] = []
    """Capabilities that every case needs."""
    opt_in: bool = False
    """Whether the pack runs only when it is named."""
    cases: Annotated[list[Members], Field(min_length=1)]
    """Its cases."""


CallStep.model_rebuild()
SendStep.model_rebuild()
Repeat.model_rebuild()
ParallelStep.model_rebuild()
