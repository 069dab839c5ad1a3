"""The exceptions of the suite: each kind of problem is a class with a code, a cause and a hint.

Three families: a pack or file that cannot be used (`LoadProblem`), a node that departs from the specification
(`Departure`, verdict fail), and a run that learnt nothing (`Inconclusive`).
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar, Self


class Problem(Exception):  # noqa: N818 - a failing node is no error of the suite
    """Any problem of a run. Its text says what happened; `cause` and `hint` belong to the class."""

    code: ClassVar[str] = "problem"
    cause: ClassVar[str] = "something went wrong"
    hint: ClassVar[str] = ""


# ---------------------------------------------------------------------------------------------------------------------
# Files that cannot be used: nothing runs


class LoadProblem(Problem):
    """A pack, or another file of the suite's user, that cannot be used."""

    code = "load"
    cause = "the file cannot be used"

    def __init__(self, message: str, path: Path, line: int = 0) -> None:
        self.path = path
        self.line = line
        super().__init__(f"{path}:{line}: {message}" if line else f"{path}: {message}")


class LoadProblems(LoadProblem):
    """Several files, or several places of a file, that cannot be used: one line for each, then their number."""

    code = "load-problems"

    def __init__(self, problems: Sequence[LoadProblem]) -> None:
        self.problems = tuple(sorted(problems, key=lambda problem: (problem.path, problem.line)))
        super().__init__("", self.problems[0].path, self.problems[0].line)
        files = len({problem.path for problem in self.problems})
        count = f"{len(self.problems)} errors in {files} {'file' if files == 1 else 'files'}"
        self.args = ("\n".join([*map(str, self.problems), count]),)


def raise_all(problems: Sequence[LoadProblem]) -> None:
    """Raise the problems, if any: a single one as it is, several as LoadProblems. Equal texts count once."""
    by_text: dict[str, LoadProblem] = {}
    for problem in problems:
        several = problem.problems if isinstance(problem, LoadProblems) else (problem,)
        by_text |= {str(single): single for single in several}
    if len(by_text) == 1:
        raise next(iter(by_text.values()))
    if by_text:
        raise LoadProblems(list(by_text.values()))


class Unreadable(LoadProblem):
    """Not there, not UTF-8, or not YAML."""

    code = "unreadable"
    cause = "the file is missing or is not YAML"


class DuplicateKey(LoadProblem):
    """A YAML mapping names one key twice: the first value would be lost silently."""

    code = "duplicate-key"
    cause = "a mapping names a key twice"


class BadShape(LoadProblem):
    """A member is unknown, missing, or has a value of the wrong form."""

    code = "bad-shape"
    cause = "the file does not follow its schema"
    hint = "docs/packs.md describes every member; editors check against conformance/run/pack.schema.json"


class BadKnownList(BadShape):
    """The list of known failures, or an entry of it, has another form."""

    code = "bad-known-list"
    cause = "the list of known failures does not have its form"
    hint = "docs/packs.md shows such a list under Known failures"


class DuplicateId(LoadProblem):
    """Two packs, cases, rows or steps share an id."""

    code = "duplicate-id"
    cause = "an id is used twice"


class UnknownName(LoadProblem):
    """A requirement, operation, capability, profile key, function, matcher, account or driver that nobody knows."""

    code = "unknown-name"
    cause = "a name refers to nothing"


class UndefinedVariable(LoadProblem):
    """A `${variable}` that no earlier step defines."""

    code = "undefined-variable"
    cause = "a variable is used before anything defines it"


class RefusalUnproven(LoadProblem):
    """A refusal without a control, with a control that proves nothing, or a refused write without `unchanged`."""

    code = "refusal-unproven"
    cause = "a refusal proves nothing alone"
    hint = "name an earlier accepted step of the same operation as `control`, and list in `unchanged` what must stay"


class UnprovenRefusal(Problem):
    """A case judges a refusal without what would prove it: an error of the case, not of the node."""

    code = "unproven-refusal"
    cause = "a refusal proves nothing alone"
    hint = "give as `control` an accepted call of the same operation, and reads as `unchanged`"


class NothingAsserted(LoadProblem):
    """A case whose steps judge nothing: it would pass on every node."""

    code = "nothing-asserted"
    cause = "a case judges nothing"


class UnjudgedRequirement(Problem):
    """A case does not say which of its parts is about a requirement: an error of the case, not of the node."""

    code = "unjudged-requirement"
    cause = "a part of a case has to say which requirements it is about"
    hint = 'compare what a requirement says inside `with judge("ID"):`'


class NothingSelected(Problem):
    """No case matches what was asked for: never a success."""

    code = "nothing-selected"
    cause = "no case was selected"
    hint = "`service-conformance packs` and `service-conformance requirements` show what there is"


class NodeNotStarted(Problem):
    """The bundled node did not come up."""

    code = "node-not-started"
    cause = "the bundled node did not start"
    hint = "start it by hand with `reference-node serve` to see why, or name a node with --node-url"


class NodeNotInstalled(Problem):
    """The suite is installed without the reference node."""

    code = "node-not-installed"
    cause = "the reference node is not installed"


# ---------------------------------------------------------------------------------------------------------------------
# Steps that did not go as they should


class StepProblem(Problem):
    """A problem of a step. The runner adds which step it was."""

    def __init__(self, expected: str, got: str, exchange: int | None = None) -> None:
        self.expected = expected
        self.got = got
        self.exchange = exchange
        """Number of the exchange in the case's log that shows it."""
        self.step = ""
        """The label of the step; the step that raised the problem fills it in."""
        self.requirements: tuple[str, ...] = ()
        """The requirements of the case that it contradicts, where known; otherwise it counts for all of them."""
        self.judged = False
        """Whether a judging step or a judge's block has charged its requirements with it."""
        self.assumed: dict[str, object] | None = None
        """The assumed profile values, by key, that the case had relied on by then; None: not determined yet."""
        self.replay = ""
        """A pack that shows the failure by itself, for a case whose steps were generated."""
        super().__init__(f"expected {expected}; got {got}")


MOST_OF_OTHERS = 1_500
"""The number of characters in which a failure shows the failures beside it."""


class Departure(StepProblem):
    """The node departs from the specification."""

    code = "departure"
    cause = "the node departs from what the step says"

    def charge(self, requirements: Sequence[str]) -> None:
        """Charge these requirements with it, unless it names those that it contradicts itself.

        Raises SetupFailed where there are none: nothing is judged yet.
        """
        self.requirements = self.requirements or tuple(requirements)
        if not self.requirements:
            raise SetupFailed.of(self) from self
        self.judged = True

    @classmethod
    def first_of(cls, failures: Sequence[Departure]) -> Departure:
        """The first of several independent failures, with the requirements of all of them.

        Failures that depend on assumed profile values count only where there are no others. The text of the first
        failure lists the others.
        """
        certain = [failure for failure in failures if not failure.assumed] or list(failures)
        first = certain[0]
        first.requirements = tuple(dict.fromkeys(name for failure in certain for name in failure.requirements))
        if others := "; ".join(
            f"{failure.step}: {failure.got}" if failure.step else failure.got for failure in certain[1:]
        ):
            shown = others if len(others) <= MOST_OF_OTHERS else f"{others[:MOST_OF_OTHERS]}…"
            first.got += f" (and {len(certain) - 1} more: {shown})"
        return first


class Mismatch(Departure):
    """A value is not the one that was expected."""

    code = "mismatch"
    cause = "a value is not as expected"


class NotAccepted(Departure):
    """A request that must be accepted was refused."""

    code = "not-accepted"
    cause = "the node refused a request that it must accept"


class NotRefused(Departure):
    """A request that must be refused was accepted."""

    code = "not-refused"
    cause = "the node accepted a request that it must refuse"


class WrongRefusal(Departure):
    """Refused, but with a status of another class."""

    code = "wrong-refusal"
    cause = "the refusal's status belongs to another class"
    hint = "if the node's statuses differ by design, say so in the profile under errors.status_codes"


class LeakyRefusal(Departure):
    """A refusal that carries what only success gives, or a credential."""

    code = "leaky-refusal"
    cause = "the refusal's answer gives away what it must not"


class RunEndedOtherwise(Departure):
    """The run of an action ended with an error and should not have, or the other way round."""

    code = "run-ended-otherwise"
    cause = "the run did not end as it must"
    hint = "how a node answers code that fails is the profile's exec.failure_and_limits"


class StateChanged(Departure):
    """A refused request changed something nevertheless."""

    code = "state-changed"
    cause = "a refused request changed the state"


class Malformed(Departure):
    """An answer that is not what its operation answers with: no JSON, duplicate members, paging that never ends."""

    code = "malformed"
    cause = "the answer cannot be read"


class ServerFault(Departure):
    """A 5xx, a time-out, or a connection dropped before the answer: never a refusal, a failure of its own."""

    code = "server-fault"
    cause = "server fault"


class NoAnswerInTime(ServerFault):
    """No answer came in time. The case runs once more: nothing says how soon an answer comes, and machines are busy."""

    code = "no-answer-in-time"


class ConnectionDropped(ServerFault):
    """The connection was closed before the answer."""


class ChainReverted(Departure):
    """The chain's JSON-RPC answered with an error: a revert of the contract, or something else."""

    code = "chain-reverted"
    cause = "the contract refused a call that it must answer"

    def __init__(self, expected: str, got: str, exchange: int | None = None, *, by_contract: bool = True) -> None:
        super().__init__(expected, got, exchange)
        self.by_contract = by_contract
        """Whether the contract itself reverted."""


class Inconclusive(StepProblem):
    """Nothing was learnt about the requirement."""

    code = "inconclusive"
    cause = "nothing was learnt about the requirement"


class SetupFailed(Inconclusive):
    """A departure before anything is judged: what the case is about could not be reached."""

    code = "blocked"
    cause = "blocked: a step that prepares did not go as it should"
    hint = "look for a failing case about that operation: it tells more"
    judged_by = ""
    """The case that judges the failed set-up; empty where no single case does."""

    @classmethod
    def of(cls, problem: Departure) -> Self:
        """The problem for a departure in set-up."""
        failure = cls(problem.expected, f"{problem.got} ({problem.cause})", problem.exchange)
        failure.step, failure.assumed = problem.step, problem.assumed
        return failure


class Unreachable(Inconclusive):
    """Nobody listens at the node's address, or the name does not resolve."""

    code = "unreachable"
    cause = "the node cannot be reached"
    hint = "check --node-url, and that the node runs"


class Untrusted(Inconclusive):
    """The node's TLS certificate is none that this machine trusts."""

    code = "untrusted"
    cause = "the node's certificate is not trusted"
    hint = "name the certificate's issuer, or the self-signed certificate itself, in SSL_CERT_FILE"


class NodeSilent(Inconclusive):
    """Several requests in a row were not answered in time: no more are sent, and the run ends."""

    code = "node-silent"
    cause = "the node answers nothing any more"
    hint = "look at the node; --timeout and --max-timeouts say how long the suite waits"


class IdleConnectionClosed(Inconclusive):
    """A connection that had carried requests before was closed with no byte of an answer to a request that may count.

    A server may close an idle connection at any time (RFC 9112, 9.5), also while a request is on its way.
    """

    code = "idle-connection-closed"
    cause = "the node closed a kept-alive connection before the answer"
    hint = "nothing tells whether the request was carried out; run the case again"


class NoFunderKey(Inconclusive):
    """The profile names an environment variable for the key of a wallet with ether, and it holds none."""

    code = "no-funder-key"
    cause = "there is no key of a wallet with ether"
    hint = "set the variable, or leave funded_wallet out of the profile's capabilities"


class NoControlToken(Inconclusive):
    """The profile names an environment variable for the token of the test control, and it holds none."""

    code = "no-control-token"
    cause = "there is no token for the test control"
    hint = "set the variable, or leave control_token_variable out of the profile"


class OutOfCredit(Inconclusive):
    """402 where the case does not expect it."""

    code = "out-of-credit"
    cause = "the account has no credit"
    hint = "have the node give new accounts credits; where it never does, the profile says `accounts: {credits: null}`"


class Throttled(Inconclusive):
    """429, or 503 with Retry-After: the node asks to go slower."""

    code = "throttled"
    cause = "the node limits the rate of requests"
    hint = "run with a lower --rate"


class BudgetSpent(Inconclusive):
    """The run's own spending limit is reached."""

    code = "budget-spent"
    cause = "the run's budget is spent"
    hint = "raise --max-spend (cents)"


class PurchasesSpent(Inconclusive):
    """The run has bought as much credit as the profile permits."""

    code = "purchases-spent"
    cause = "the run has bought as much credit as the profile permits"
    hint = "raise payments.most_cents of the profile"


class GasSpent(Inconclusive):
    """The run's own limit of gas is reached."""

    code = "gas-spent"
    cause = "the run's gas is spent"
    hint = "raise --max-gas"


class ChainTrouble(Inconclusive):
    """The settlement chain did not take or mine a transaction of the suite, for reasons that are not the node's."""

    code = "chain-trouble"
    cause = "the settlement chain did not do as asked"
    hint = "check the chain's JSON-RPC, and that the wallet with the suite's ether has enough of it"


class ProviderTrouble(Inconclusive):
    """The payment provider did not do as asked, for reasons that are not the node's."""

    code = "provider-trouble"
    cause = "the payment provider did not do as asked"
    hint = "check payments.provider_url and payments.methods of the profile"


class LivePayments(Inconclusive):
    """The node sells credits for real money: the suite pays in test mode alone."""

    code = "live-payments"
    cause = "payments of the node move real money"
    hint = "run the node with keys of the provider's test mode"


class FuzzNotInstalled(Inconclusive):
    """The suite is installed without schemathesis, which generates requests."""

    code = "fuzz-not-installed"
    cause = "schemathesis is not installed"
    hint = "pip install 'service-conformance[fuzz]'"


class VerifierNotInstalled(Inconclusive):
    """The suite is installed without the libraries of the attestation verifier."""

    code = "verifier-not-installed"
    cause = "the libraries of the attestation verifier are not installed"
    hint = "pip install 'service-conformance[attestation]'"

    def __str__(self) -> str:
        return f"{self.cause}: {self.hint}"


VERIFIER_LIBRARIES = ("cryptography", "dcap_qvl", "dns")
"""What the extra `attestation` installs, by the names under which `conformance.verify` imports it."""


def require_verifier() -> None:
    """Raise VerifierNotInstalled if a library of the verifier is missing."""
    missing = [name for name in VERIFIER_LIBRARIES if find_spec(name) is None]
    if missing:
        raise VerifierNotInstalled("the libraries of the attestation verifier", f"no {', '.join(missing)}")


class ControlNotAccepted(Inconclusive):
    """The control of a refused step was not reached or not accepted."""

    code = "control-not-accepted"
    cause = "the refusal's control was not accepted, so that the refusal would prove nothing"


class ProfileSilent(Inconclusive):
    """A step needs something that the profile leaves out."""

    code = "profile-silent"
    cause = "the profile does not say what the step needs"
    hint = "name the key in the case's `uses`, or fill it in the profile"
