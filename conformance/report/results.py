"""results.json: the authoritative record of a run. docs/results.md describes it; results.schema.json is its schema."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, JsonValue, PrivateAttr

from conformance.report.judgement import Judgement
from conformance.requirements import Coverage, Level
from conformance.values.shown_text import escaped
from conformance.verdict import CellVerdict, ExitCode, Verdict

FORMAT: Literal[1] = 1
"""Counts up when a member changes its meaning or goes away."""


class Part(BaseModel):
    """A part of results.json."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Suite(Part):
    """What judged."""

    name: Literal["service-conformance"] = "service-conformance"
    version: str


class Specification(Part):
    """The text judged by."""

    title: str
    sha256: str
    """Of its UTF-8 text, hex."""


class ProfileUsed(Part):
    """The vendor profile."""

    source: str
    """The file as named on the command line, or `reference`."""
    sha256: str
    """Of the profile with every default filled in, as JSON with sorted keys and without white space, hex."""
    capabilities: tuple[str, ...]
    content: dict[str, JsonValue] = {}
    """The whole profile. Addresses have no user, password and query, and only those of the node their path."""
    assumed: tuple[str, ...] = ()
    """The dotted keys that the vendor did not state."""


class TargetJudged(Part):
    """The node."""

    base_url: str
    """Without user, password, query and fragment."""
    bundled: bool
    """Whether it is the reference node, started by the suite."""


class ExchangeShown(Part):
    """The HTTP exchange that shows a failure. No credential is in any member."""

    method: str
    url: str
    request_headers: dict[str, str]
    request_body: str | None
    status: int | None
    """Null when no answer came."""
    response_headers: dict[str, str]
    response_body: str
    seconds: float
    curl: str
    """The request as a shell command, credentials as shell variables."""


class ContractCallShown(Part):
    """What a request to the chain calls of the contract."""

    sender: str
    """The address of the wallet that sends it; empty for a view that nobody is said to ask for."""
    function: str
    arguments: dict[str, JsonValue]
    """By name."""
    result: str
    is_write: bool
    """Whether it is a transaction."""


class ConversationExchangeShown(Part):
    """One exchange of a failing case. No credential is in any member.

    `${API_KEY_1}` or `${WALLET_ADDRESS_2}` in a request stands for what the answer to an earlier one gave.
    """

    method: str
    url: str
    request_headers: dict[str, str]
    request_body: str | None
    status: int | None
    """Null when no answer came."""
    response_body: str
    seconds: float
    given: dict[str, str]
    """Variable to the filter of jq that takes its value from the answer."""
    unrepeatable: str
    """Why a script cannot send this request again; empty when it can."""
    operation: str = ""
    """The operation that was called; empty for the chain and for files."""
    contract: ContractCallShown | None = None
    """What a request to the chain calls; null for all others."""
    not_sent: bool = False
    """Whether the case computed what this request would have given: a script that repeats the case sends it."""
    at_once: bool = False
    """Whether another request of the case was under way at the same time."""
    restarted: bool = False
    """Whether the node was restarted between the exchange before it and this one."""


class ConversationShown(Part):
    """The exchanges of a case until it failed, oldest first."""

    exchanges: tuple[ConversationExchangeShown, ...]
    left_out: int
    """How many exchanges came before the newest and are left out: of a long conversation's beginning, those stay that
    gave keys and ids."""
    departed: int | None
    """Index of the exchange that shows the failure; null where none of these does."""
    others: tuple[int, ...] = ()
    """Indexes of those that show more failures of the case."""
    names: dict[str, str] = {}
    """Variable to the value that an answer gave; credentials are left out. Also what the report calls the addresses and
    hashes of the case's own wallets and keys and of the node's payers, and the labels of other cases in what came, to
    these: ``carol's wallet``, ``$API_KEY_1's hash``, ``groups::group-has-an-id's label``."""


class FailureShown(Part):
    """Where a case departed from the specification."""

    step: str
    expected: str
    got: str
    exchange: ExchangeShown | None
    replay: str | None
    """A pack that shows the failure by itself, for a case whose steps were drawn at random."""
    conversation: ConversationShown | None = None
    """All exchanges of a case that failed, as far as their size permits."""
    hint: str = ""
    """What to look at where the node is right: mostly the key of the profile whose other value explains what came."""
    beside: tuple[str, ...] = ()
    """The further failures of the case: where, what was expected and what came."""

    @property
    def told(self) -> str:
        """Where, what was expected and what came, in one line."""
        return f"{self.step}: expected {self.expected}; got {self.got}".removeprefix(": ")


class CellResult(Part):
    """One cell of a matrix."""

    cell: str
    """`key/action/wallet/accounts`: what `--cell` takes."""
    expected: Literal["granted", "refused"]
    """What the specification says."""
    reason: str
    """Why it says so."""
    verdict: CellVerdict
    """`granted` and `refused` are as expected."""
    got: str
    """What came instead; empty unless it is wrong."""
    rerun: str
    """The command that tries a wrong cell alone, with the same seed; empty for others."""

    @property
    def granted(self) -> bool:
        """Whether it must be granted, or refused."""
        return self.expected == "granted"


class Spent(Part):
    """What was spent."""

    charged_cents: int
    """What calls were charged, by the prices of the profile."""
    bought_cents: int
    """What was paid to the payment provider."""
    gas: int = 0
    """What transactions used on the settlement chain."""


class CaseResult(Part):
    """The outcome of one case."""

    case: str
    """`pack::case` or `pack::case[row]`."""
    title: str
    requirements: tuple[str, ...]
    contradicted: tuple[str, ...]
    """Which of them a failure contradicts, where that can be told; empty: it is taken for all of them."""
    verdict: Verdict
    reason: str
    """One sentence for every verdict but pass."""
    exchanges: int
    """HTTP requests sent."""
    seconds: float
    spent: Spent
    waited_seconds: float = 0.0
    """How long it waited for a node that put requests off or was not there."""
    repeats: int = 0
    """How many times it ran again, since what it met may have been the way to the node."""
    failure: FailureShown | None
    assumed: dict[str, JsonValue] = {}
    """Of an inconclusive case that departed after it relied on what the profile does not state: these keys of the
    profile, with the assumed values, the one that explains it first; empty for others."""
    waits_for: str = ""
    """Of a case that a step blocks which prepares: the case that judges this step, where that is known."""
    traceback: str = ""
    """Python's, for an error of the suite; empty for other verdicts."""
    rerun: str
    """The command that runs this case alone, with the same seed."""
    cells: tuple[CellResult, ...]
    """Every cell of a matrix, those that were not tried included; empty for other cases."""
    tried: dict[str, tuple[int | str, ...]] = {}
    """What the case tried of many values: of `list_groups` the numbers of items, say. Most cases tell nothing."""

    @property
    def blamed(self) -> tuple[str, ...]:
        """The requirements that the verdict is about."""
        return self.contradicted or self.requirements


class RequirementResult(Part):
    """The verdict on one statement of the specification."""

    id: str
    level: Level
    section: str
    """Section of the specification, with the numbered items."""
    text: str
    verdict: Judgement
    coverage: Coverage
    """How far the suite's checks prove it, whatever ran."""
    checks: tuple[str, ...]
    """The cases that prove it."""
    failed: tuple[str, ...]
    """Those of them that failed."""
    restates: tuple[str, ...]
    """The statements whose checks prove it."""
    note: str
    """What its checks leave out, or why it has none."""


class CauseResult(Part):
    """A cause that several cases share."""

    headline: str
    cases: tuple[str, ...]
    """The first is the one to look at: one that failed, where one did."""
    failed: int
    inconclusive: int
    """How many of them have which verdict."""


class AssumedKey(Part):
    """A key of the profile that the vendor did not state, and on which inconclusive cases hang."""

    key: str
    value: JsonValue
    """What was assumed."""
    expected: str
    got: str
    """What came, in the first of the cases."""
    cases: tuple[str, ...]
    explains: bool = True
    """Whether another value explains what came; false where no key does: it is then one of those that cases read."""


class Totals(Part):
    """How many of each verdict; only those that occur."""

    cases: dict[Verdict, int]
    requirements: dict[Judgement, int]
    """Must and should statements."""
    exchanges: int
    waited_seconds: float = 0.0
    """Of all cases together."""
    repeats: int = 0
    spent: Spent
    spent_by_pack: dict[str, Spent]
    """Only packs that spent something."""


class EvidenceVerified(Part):
    """Evidence that was fetched, kept and verified."""

    sha256: str
    """Of the lines that `sha256sum` prints for its files, sorted by name, hex."""
    at: datetime
    """When its verification ended."""
    verified: bool
    refused: tuple[str, ...]
    """Codes of the findings that refuse it."""


class RunEvidence(Part):
    """The node's evidence, which binds the run to the code that was judged."""

    before: EvidenceVerified
    """Before the first case."""
    after: EvidenceVerified | None
    """After the last case; null where it could not be fetched."""
    trouble: str
    """What is wrong with the evidence after the last case; empty if nothing is."""


class Results(Part):
    """The record of a run."""

    format: Literal[1] = FORMAT
    conforms: bool
    """True exactly when the exit code is 0."""
    exit_code: ExitCode
    sentence: str
    """The verdict in words."""
    suite: Suite
    specification: Specification
    profile: ProfileUsed
    target: TargetJudged
    environment: str = ""
    """Python and the operating system that the suite ran on."""
    seed: str
    selected: tuple[str, ...] = ()
    """The options that chose the cases; empty: all were chosen."""
    quick: bool
    """Whether only the cheapest cases that name every requirement were selected."""
    started: datetime
    finished: datetime
    resumed: tuple[datetime, ...] = ()
    """When the run was taken up again after it had been stopped; its cases are of before and after."""
    interrupted: str
    """Why the run did not come to its end; empty when it did."""
    faults: tuple[str, ...]
    """What is wrong besides the cases: entries of the list of known failures that pass or match nothing."""
    assumed: tuple[AssumedKey, ...] = ()
    """What the profile should state: each key once, however many cases hang on it."""
    evidence: RunEvidence | None = None
    """With `--evidence`: the node's evidence before and after the cases."""
    totals: Totals
    causes: tuple[CauseResult, ...] = ()
    """What several cases failed or were inconclusive for, the most frequent first."""
    requirements: tuple[RequirementResult, ...]
    """Every statement of the catalogue, in its order."""
    cases: tuple[CaseResult, ...]
    """Every selected case, by name."""
    _file: bytes | None = PrivateAttr(default=None)

    def read_from(self, content: bytes) -> Self:
        """The same results, as read from a file with this content."""
        same = self.model_copy()
        same._file = content
        return same

    @property
    def content(self) -> bytes:
        """What ``results.json`` holds: the file that they were read from, else what they are written as."""
        # Unprintable characters stand within strings alone, where their escapes mean the same.
        return escaped(self.model_dump_json(indent=2) + "\n").encode() if self._file is None else self._file
