"""The verdicts of a case, the record that a case leaves behind, and the exit code of a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum, StrEnum


class Verdict(StrEnum):
    """What is known about a case after it ran."""

    PASS = "pass"  # noqa: S105 - a verdict, not a password
    FAIL = "fail"
    NOT_OFFERED = "not offered"
    """The profile does not claim what the case needs."""
    KNOWN = "known"
    """It failed, and the vendor listed it with a reason and a link."""
    INCONCLUSIVE = "inconclusive"
    """Set-up or network failed, so that nothing was learnt about the requirement."""
    SUITE_ERROR = "suite error"
    """The case or its driver stumbled over something that is no answer to a step: nothing was learnt."""


class ExitCode(IntEnum):
    """What ``service-conformance run`` ends with."""

    CONFORMS = 0
    FAILS = 1
    """A case failed, or the list of known failures is out of date."""
    USAGE = 2
    """The command line, a pack or a profile is at fault; nothing ran."""
    INCONCLUSIVE = 3
    """No case failed, and some, or all, taught nothing."""
    NOTHING_SELECTED = 4
    INTERRUPTED = 5
    """The run did not come to its end; results.json tells of the cases that ran."""
    SUITE_ERROR = 6
    """No case failed, and one stumbled over an error of its own, or of the suite."""
    CRASHED = 70
    """The suite itself crashed."""


NOT_APPLICABLE = "not-applicable"
"""The ``problem`` of a case that is not offered because the profile answers otherwise than the case is for."""


ASSUMED = "assumed"
"""The ``problem`` of a case that departed after it had relied on a value that the profile does not state."""


@dataclass(frozen=True)
class Exchange:
    """One HTTP request and its answer, redacted: no credential is in any of its fields."""

    method: str
    url: str
    request_headers: dict[str, str]
    request_body: str | None
    status: int | None
    """None when no answer came."""
    response_headers: dict[str, str]
    response_body: str
    seconds: float
    curl: str
    """The request as a shell command, the credential replaced by a shell variable."""


@dataclass(frozen=True)
class ContractCall:
    """What a request to the chain calls of the contract."""

    sender: str
    """The address of the wallet that sends it; empty for a view that nobody is said to ask for."""
    function: str
    arguments: dict[str, object]
    """By name, as JSON values."""
    result: str
    is_write: bool = False
    """Whether it is a transaction."""


@dataclass(frozen=True)
class ConversationExchange:
    """One exchange of a failing case, redacted.

    `${API_KEY_1}` or `${WALLET_ADDRESS_2}` in a request stands for what the answer to an earlier one gave.
    """

    method: str
    url: str
    request_headers: dict[str, str]
    request_body: str | None
    status: int | None
    """None when no answer came."""
    response_body: str
    seconds: float
    given: dict[str, str] = field(default_factory=dict)
    """Variable to the filter of jq that takes its value from the answer; of a request that was not sent, the filter may
    name other variables: `$WALLET_ADDRESS_2`."""
    unrepeatable: str = ""
    """Why a script cannot send this request again; empty when it can."""
    operation: str = ""
    """The operation that was called; empty for the chain and for files."""
    contract: ContractCall | None = None
    """What a request to the chain calls; None for all others."""
    not_sent: bool = False
    """Whether the case computed what this request would have given: a script that repeats the case sends it."""
    at_once: bool = False
    """Whether another request of the case was under way at the same time."""
    restarted: bool = False
    """Whether the node was restarted between the exchange before it and this one."""


@dataclass(frozen=True)
class Conversation:
    """The exchanges of a case until it failed, oldest first."""

    exchanges: tuple[ConversationExchange, ...]
    left_out: int = 0
    """How many exchanges came before the newest and are left out: of a long conversation's beginning, those stay that
    gave keys and ids."""
    departed: int | None = None
    """Index of the exchange that shows the failure; None where none of these does."""
    others: tuple[int, ...] = ()
    """Indexes of those that show more failures of the case."""
    names: dict[str, str] = field(default_factory=dict)
    """Variable to the value that an answer gave; credentials are left out. Also what the report calls the addresses and
    hashes of the case's own wallets and keys and of the node's payers, and the labels of other cases in what came, to
    these: ``carol's wallet``, ``$API_KEY_1's hash``, ``groups::group-has-an-id's label``."""


@dataclass(frozen=True)
class Failure:
    """Where a case departed from the specification."""

    step: str
    """The step as the pack names it, for example ``steps[3] call list_groups (lists-while-alive)``."""
    expected: str
    got: str
    exchange: Exchange | None = None
    replay: str | None = None
    """A pack that shows the failure by itself, for a case whose steps were drawn at random."""
    conversation: Conversation | None = None
    """All exchanges of the case, where it failed."""
    hint: str = ""
    """What to look at where the node is right: mostly the key of the profile whose other value explains what came."""
    beside: tuple[str, ...] = ()
    """The further failures of the case: where, what was expected and what came."""


class CellVerdict(StrEnum):
    """What came of one cell of a matrix."""

    GRANTED = "granted"
    REFUSED = "refused"
    """Either as it must be."""
    WRONG = "wrong"
    NOT_TRIED = "not tried"


@dataclass(frozen=True)
class CellOutcome:
    """One cell of a matrix."""

    cell: str
    """``usage-several/this/other/2``: key, listing of the action, listing of the wallet, number of accounts."""
    granted: bool
    """What the specification says: whether it must be granted, or refused."""
    verdict: CellVerdict
    reason: str
    """Why the specification says so."""
    got: str = ""
    """What came of a wrong one."""


@dataclass(frozen=True)
class Outcome:
    """The record of one case."""

    case: str
    """``pack::case`` or ``pack::case[row]``; what ``--case`` takes to run it alone."""
    title: str
    requirements: tuple[str, ...]
    verdict: Verdict
    reason: str = ""
    """One sentence for every verdict but pass."""
    failure: Failure | None = None
    exchanges: int = 0
    """How many HTTP requests the case sent."""
    seconds: float = 0.0
    charged_cents: int = 0
    """What its calls were charged, by the prices of the profile."""
    bought_cents: int = 0
    """What it paid to the payment provider."""
    gas: int = 0
    """What its transactions used on the settlement chain."""
    waited_seconds: float = 0.0
    """How long it waited for a node that put requests off or was not there."""
    repeats: int = 0
    """How many times it ran again, since what it met may have been the way to the node."""
    cells: tuple[CellOutcome, ...] = ()
    """The cells of a matrix, those that were not tried included; none where the case is no matrix."""
    tried: dict[str, tuple[int | str, ...]] = field(default_factory=dict)
    """What the case tried of many values: the numbers of items in each list, say."""
    properties: dict[str, str] = field(default_factory=dict)
    contradicted: tuple[str, ...] = ()
    """Which of its requirements a failure contradicts, where that can be told; it is no news about the others."""
    assumed: dict[str, object] = field(default_factory=dict)
    """Of a case whose problem is ``assumed``: the keys of the profile that it hangs on, with the assumed values."""
    explains: str = ""
    """Which of these keys explains what came by another value; empty where none does."""
    waits_for: str = ""
    """Of a case that a step blocks which prepares: the case that judges this step, where that is known."""
    traceback: str = ""
    """Python's, redacted, for an error of the suite."""

    @property
    def blamed(self) -> tuple[str, ...]:
        """The requirements that the verdict is about."""
        return self.contradicted or self.requirements
