"""How a node can depart from the specification: the kinds of `Departure`, verdict fail."""

from __future__ import annotations

from conformance.problems.step import Departure


class Mismatch(Departure):
    """A value is not the one that was expected."""

    code = "mismatch"
    cause = "a value is not as expected"


class NotBase64(Mismatch):
    """A text is no base64: what follows from its bytes cannot be judged."""


class OtherKeyUsed(Mismatch):
    """A permitted run used another key than its wallet's: this contradicts PKP-170, whatever the run was about."""


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
    was_refused = True
    cause = "the refusal's status belongs to another class"
    hint = "if the node's statuses differ by design, say so in the profile under errors.status_codes"


class LeakyRefusal(Departure):
    """A refusal that carries what only success gives, or a credential."""

    code = "leaky-refusal"
    cause = "the refusal's answer gives away what it must not"


class SecretTold(LeakyRefusal):
    """A refusal that carries a credential: this contradicts ERR-160, whatever the request was about."""


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


class NotJson(Malformed):
    """A body that has to be JSON and is none: this contradicts EP-010, whatever the request was about."""


class ServerFault(Departure):
    """A 5xx, a time-out, or a connection dropped before the answer: never a refusal, a failure of its own."""

    code = "server-fault"
    cause = "server fault"


class ServerFaultAtRefusal(ServerFault):
    """A 5xx to a request that must be refused: this contradicts ERR-140, whatever the request was about."""


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
