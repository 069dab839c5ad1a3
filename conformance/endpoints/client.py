"""The HTTP client of the node: one connection pool, a log of every exchange, and an error for each kind of failure."""

from __future__ import annotations

import copy
import math
import os
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from typing import Self, TypeVar
from urllib.parse import quote

import httpx

from conformance.endpoints.bodies import TooLargeError, Volume, body_of, too_long, weight_of
from conformance.endpoints.extent import SampleOptions
from conformance.endpoints.interruption import Interruption
from conformance.endpoints.log import ExchangeLog, RawExchange, Timing
from conformance.endpoints.messages import OF_GATEWAYS, Answer, Message
from conformance.endpoints.pace import Budget, GasBudget, Pace, PurchaseBudget
from conformance.endpoints.patience import MiningPatience, Patience
from conformance.endpoints.redaction import SeenKeys
from conformance.endpoints.restart import Restarter
from conformance.endpoints.transport import MOST_CONNECTIONS, Received, exchange_within, http_client, with_location
from conformance.endpoints.turns import Turn, Turns
from conformance.problems import (
    BeyondLimits,
    ConnectionDropped,
    IdleConnectionClosed,
    Inconclusive,
    NoAnswerInTime,
    ProfileSilent,
    ProxyFault,
    PurchasesSpent,
    Unreachable,
    Unsendable,
    Untrusted,
)
from conformance.profile import Effect, NotStated, Operation, Profile, read_aside, resolve, value_at
from conformance.profile.billing import ChargePerCall
from conformance.transport import forwarder
from conformance.values.http_dates import http_date

T = TypeVar("T")

TIMEOUT_SECONDS = 45.0
"""The time-out of an answer. A run may take 15 s longer than the profile's limit of runs."""
LONGEST_WAIT_SECONDS = 20.0
"""The longest total wait that a node may ask for with one request. If it asks for more, the case is inconclusive."""
RESTART_SECONDS = 20.0
"""How long to retry while a node that answered before refuses connections: it may be restarting."""
RETRY_SECONDS = 0.2
FIRST_WAIT_SECONDS = 1.0
"""The first wait for a node that limits the rate of requests and says nothing of time; each is twice the one before."""
BYTES_OF_FIRST_CHUNK = 7
"""Where a body in chunks is cut: inside the name of a member."""
MOST_HEADERS = 256
"""Of one answer."""
MOST_HEADER_BYTES = 100 * 1024
"""Of one answer; the HTTP library's limit."""
MUCH_HEADER = "Receive buffer too long"
"""What that library says beyond it."""
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
"""The methods whose requests change nothing and may be sent again (RFC 9110, 9.2.1). The chain's are repeated, too."""
NEVER_SENT = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.LocalProtocolError,
    httpx.UnsupportedProtocol,
    httpx.InvalidURL,
)
"""The exceptions of httpx after which the node cannot have seen the request."""


class Target:
    """A node under test, for the length of a run. Used by several threads at once."""

    def __init__(
        self,
        base_url: str,
        profile: Profile,
        *,
        seed: str = "0",
        pace: Pace | None = None,
        budget: Budget | None = None,
        gas: GasBudget | None = None,
        extent: SampleOptions | None = None,
        patience: Patience | None = None,
    ) -> None:
        self.base_url = base_url.rstrip("/")
        self.profile = profile
        self.seed = seed
        self.budget = budget or Budget(None)
        self.purchases = PurchaseBudget(profile.payments.most_cents)
        self.gas = gas or GasBudget(None)
        self.extent = extent or SampleOptions()
        self.ends_with_run = False
        """Whether the run started this node, so that nothing outlives the run and no clean-up is needed."""
        self.may_restart = False
        """Whether the user lets cases run the command by which the profile restarts the node."""
        self.restarter: Restarter | None = None
        """Restarts a node that the run has started itself; None: the profile's command does it."""
        self.borne_out: set[str] = set()
        """Assumed profile keys whose value the node's answers have confirmed."""
        self.longer_settling = 0.0
        """Seconds to wait for the effect of a write, in addition to the profile's."""
        self.settled_at_once = 0
        """How many departures occurred again after longer waits."""
        self.judging: Mapping[str, Sequence[object]] = {}
        """The cases that the run has selected, by id without the row."""
        self.seen_keys = SeenKeys(control_token(profile))
        self.repeatable_names: set[str] = set()
        """The kinds of objects of which the node has taken two of the same name in one account."""
        self.endless_lists: set[str] = set()
        """The operations of which a list had no end."""
        self._volume = Volume()
        self.timings: Callable[[Timing], None] | None = None
        """Called with every exchange."""
        self._pace = pace or Pace(None)
        self._operations: dict[str, Operation] = {}
        self._remembered: dict[str, tuple[float, object]] = {}
        self._asking: defaultdict[str, threading.RLock] = defaultdict(threading.RLock)
        self.patience = patience or Patience()
        """What all threads and cases know of the node's silence."""
        self.mining = MiningPatience()
        self._was_reached = False
        self.awaits_restarts = True
        """Whether a node that refuses connections, and answered before, is asked again for a while."""
        self._is_put_off = False
        """Whether the node put the last request off again and again, without saying until when."""
        self._timeout = self.patience.seconds or _longest(profile)
        self.reuses_connections = True
        """Whether a request may go over a connection that carried another one."""
        self.interruption = Interruption()
        self.turns: Turns | None = None
        """Whose turn it is, where several cases run at this node at the same time."""
        self._http = http_client(self._timeout, MOST_CONNECTIONS, profile.trusted_file, self.interruption)
        self._unpooled = http_client(self._timeout, 0, profile.trusted_file, self.interruption)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()
        self._unpooled.close()

    def end_within(self, seconds: float) -> None:
        """Send nothing any more when so many seconds are over, and wait no longer for what was sent."""
        self.patience.end_within(seconds)

    def with_seed(self, seed: str) -> Self:
        """The same node, budgets and connections with another seed."""
        other = copy.copy(self)
        other.seed = seed
        return other

    def without_kept_connections(self) -> Self:
        """The same node, for requests of which each goes over a connection of its own."""
        other = copy.copy(self)
        other.reuses_connections = False
        return other

    def without_retries(self) -> Self:
        """The same node, for requests that are not sent again where it refuses connections for a while."""
        other = copy.copy(self)
        other.awaits_restarts = False
        return other

    def settling_longer(self, seconds: float) -> Self:
        """The same node, for requests that wait so much longer for writes to show."""
        other = copy.copy(self)
        other.longer_settling = seconds
        return other

    @property
    def settle_seconds(self) -> float:
        """How long the effect of a write may take to show."""
        return (self.profile.semantics.settle_time_seconds or 0) + self.longer_settling

    @property
    def page_size(self) -> int:
        """The size of the pages that the suite asks for."""
        limits = self.profile.limits
        return limits.page_size_max or limits.page_size_default or 10

    @property
    def page_size_is_assumed(self) -> bool:
        """Whether nobody stated the largest page, so that a node may serve smaller ones than it is asked for."""
        return "limits.page_size_max" in self.profile.assumed

    def operation(self, name: str) -> Operation:
        """An operation as this node serves it. Raises ProfileSilent when the profile leaves it out."""
        if name not in self._operations:
            try:
                self._operations[name] = resolve(self.profile, name)
            except NotStated as problem:
                raise ProfileSilent(f"a profile that says {problem.path}", "a profile that leaves it out") from problem
        return self._operations[name]

    def remembered(self, name: str, ask: Callable[[], T], seconds: float = math.inf) -> T:
        """The result of `ask`, cached under this name for so many seconds, by default for the whole run.

        Cases of the same time wait for one another's `ask`, but for one that is alone: it asks by itself.
        """
        lock = self._asking[name]
        with self.turns.holding(lock) if self.turns else lock as is_held:
            if not is_held:
                return ask()
            asked, known = self._remembered.get(name, (-math.inf, None))
            now = time.monotonic()
            if now - asked >= seconds or asked == -math.inf:
                asked, known = self._remembered[name] = now, ask()
        value: T = known  # type: ignore[assignment]  # one name has one type
        return value

    def known(self, name: str) -> object:
        """What is cached under this name; None where nothing is."""
        return self._remembered.get(name, (-math.inf, None))[1]

    def profile_value(self, key: str) -> object:
        """The value of a dotted profile key as JSON; None where the profile leaves it out."""
        return plain(value_at(self.profile, key))

    def charge(self, operation: Operation) -> int:
        """The cost of an accepted call in cents; for a run that of its first second."""
        charges = self.profile.billing.charge_per_call
        if charges is None or not operation.billed:
            return 0
        with read_aside():  # the price is used for the budget, not compared with the node
            return self._price(operation, charges)

    def _price(self, operation: Operation, charges: ChargePerCall) -> int:
        return charges.run_second_cents if operation.effect is Effect.RUN else charges.management_write_cents

    def exchange(self, message: Message, log: ExchangeLog, operation: Operation | None = None) -> Answer:
        """Send a request and get its answer.

        Raises Unreachable when nobody listens, ProxyFault when a proxy is or may be at fault, NoAnswerInTime,
        ConnectionDropped when the connection was dropped before it, IdleConnectionClosed where that connection had
        served before and the request cannot be repeated, and NodeSilent after several time-outs in a row; a 5xx is an
        answer and is returned.
        """
        cents = self.charge(operation) if operation else 0
        self.spend(cents, log)
        answer = self._sent(message, log, operation)
        if cents and not answer.accepted:
            self.spend(-cents, log)
        return answer

    def _sent(self, message: Message, log: ExchangeLog, operation: Operation | None) -> Answer:
        """Send a request. Retry for a limited time where the node asks to wait or refuses the connection.

        Retry once on a fresh connection where one was closed and the request is safe to repeat.
        """
        until = time.monotonic() + self.patience.left(LONGEST_WAIT_SECONDS)
        restarted_by = time.monotonic() + self.patience.left(RESTART_SECONDS)
        http = self._http if self.reuses_connections else self._unpooled
        began, default_wait = self.patience.begin(), FIRST_WAIT_SECONDS
        has_waited, is_repeated = False, False
        while True:
            self.await_turn()
            try:
                answer = self._send(message, log, operation, http)
            except (IdleConnectionClosed, ConnectionDropped):
                if is_repeated or not self._may_repeat(message):
                    raise
                http, is_repeated = self._unpooled, True
                continue
            except Unreachable:
                is_restarting = self._was_reached and self.awaits_restarts
                if not is_restarting or time.monotonic() + RETRY_SECONDS > restarted_by:
                    self._was_reached = False
                    raise
                self.wait(RETRY_SECONDS, log)
                continue
            self._was_reached = True
            wait = asked_to_wait(answer, None if self._is_put_off else default_wait)
            if wait is not None and time.monotonic() + wait <= until:
                has_waited, default_wait = True, 2 * default_wait
                self.wait(wait, log)
                continue
            self._is_put_off = answer.status == 429 and (has_waited or self._is_put_off)
            if wait is not None and has_waited:
                self.patience.note_timeout(began)
            else:
                self.patience.note_answer()
            return answer

    def wait(self, seconds: float, log: ExchangeLog) -> None:
        """Wait for the node, at the cost of the case."""
        log.spending.count(waited=seconds)
        self.pause(seconds)

    def _may_repeat(self, message: Message) -> bool:
        """Whether a request that the server may have carried out does no harm when it is sent again."""
        return message.method in SAFE_METHODS or message.path == self.profile.chain.rpc_url

    @contextmanager
    def turn(self) -> Iterator[Turn]:
        """Run a case within the block: beside others, or alone from its first `be_alone`."""
        with self.turns.one() if self.turns else nullcontext(Turn()) as turn:
            yield turn

    def be_alone(self) -> None:
        """Wait until no other case runs at this node, and let none begin until the turn of this thread's case ends."""
        if self.turns:
            self.turns.be_alone()

    def await_turn(self) -> None:
        """Wait until the run's rate limit allows the next request."""
        self.pause(self._pace.take())

    def pause(self, seconds: float) -> None:
        """Wait so many seconds. Raises KeyboardInterrupt when the run is interrupted."""
        self.interruption.pause(seconds)

    def spend(self, cents: int, log: ExchangeLog) -> None:
        """Count the cost of a call, or take it back. BudgetSpent: it would exceed the run's limit.

        Where accounts buy credits, the purchases count instead of the calls that they pay for.
        """
        if self.profile.accounts.credits != "bought":
            self.budget.take(cents)
        log.spending.count(charged=cents)

    def purchase(self, cents: int, log: ExchangeLog) -> None:
        """Count a payment before it is made, or take back one that failed.

        BudgetSpent, PurchasesSpent: it would exceed the run's limit, or the profile's.
        """
        self.budget.take(cents)
        try:
            self.purchases.take(cents)
        except PurchasesSpent:
            self.budget.take(-cents)
            raise
        log.spending.count(bought=cents)

    def _send(self, message: Message, log: ExchangeLog, operation: Operation | None, http: httpx.Client) -> Answer:
        url = message.path if message.path.startswith("http") else self.base_url + message.path
        content = _content(message)
        headers = {name.encode(): value.encode("utf-8", "surrogatepass") for name, value in message.headers.items()}
        waiting, began = self.patience.begin(), time.perf_counter()
        timeout = self.patience.left(self._timeout_of(operation))
        request = http.build_request(message.method, url, content=content, headers=headers, timeout=timeout)
        course = _Course()
        request.extensions["trace"] = course.note
        if message.target is not None:
            request.extensions["target"] = message.target.encode()
            url = f"{self.base_url}/{quote(message.target, safe='')}"  # what is no path is told from one in the log
        try:
            with exchange_within(timeout) as received:
                response = with_location(http.send(request, stream=True))
                most = self._volume.longest
                raw_body = self._read(response, most, received)
                body = body_of(raw_body, response.headers, most)
                weight = weight_of(body.text) + received.raw - received.body
                self._volume.take(max(len(raw_body), len(body.text)), weight)
                log.take(weight)
        except TooLargeError as problem:
            raise self._beyond(str(problem), self._unanswered(message, url, began, log, operation)) from problem
        except httpx.ProxyError as problem:
            number = self._unanswered(message, url, began, log, operation)
            raise ProxyFault("a proxy that connects to the node", str(problem), number) from problem
        except NEVER_SENT as problem:
            self.interruption.check()
            raise _never_sent(problem, self._unanswered(message, url, began, log, operation)) from problem
        except httpx.RequestError as problem:
            self.interruption.check()
            number = self._unanswered(message, url, began, log, operation)
            if MUCH_HEADER in str(problem):
                raise self._beyond(f"more than {MOST_HEADER_BYTES} bytes of headers", number) from problem
            if isinstance(problem, httpx.TimeoutException):
                self.patience.note_timeout(waiting)
                raise NoAnswerInTime("an answer", _silence(problem), number) from problem
            dropped = IdleConnectionClosed if course.ended_unanswered_on_a_kept_connection else ConnectionDropped
            raise dropped("an answer", _silence(problem), number) from problem
        raw = RawExchange(
            message.method, url, message.headers, message.body,
            response.status_code, dict(response.headers), body.text, time.perf_counter() - began, _name(operation),
            began=began,
        )  # fmt: skip
        number = self._noted(raw, log)
        if response.status_code in OF_GATEWAYS and (proxy := forwarder(url)):
            raise ProxyFault("an answer of the node", f"status {response.status_code}, {proxy}", number)
        return Answer(
            response.status_code,
            response.headers,
            body.text,
            number,
            operation,
            raw.seconds,
            self._group_id_form(operation),
            fault=body.fault,
        )

    def _beyond(self, what: str, number: int) -> BeyondLimits:
        """What to raise for an answer that was not taken in whole. It is an answer in time, whatever it holds."""
        self.patience.note_answer()
        return BeyondLimits("an answer within the limits", what, number)

    def _group_id_form(self, operation: Operation | None) -> str | None:
        """The form of group ids in lists, for answers that contain one."""
        of_groups = operation is not None and operation.name == "add_group"
        return self.profile.wire.list_groups.id_form if of_groups else None

    def _timeout_of(self, operation: Operation | None) -> float:
        """The time-out of an answer in seconds; longer for runs."""
        is_run = operation is not None and operation.effect is Effect.RUN
        return self._timeout if is_run else min(self._timeout, TIMEOUT_SECONDS)

    def _read(self, response: httpx.Response, most: int, received: Received) -> bytes:
        """Read the whole body as it was sent. Raises TooLargeError, and ReadTimeout where it takes too long."""
        parts: list[bytes] = []
        try:
            if len(response.headers.raw) > MOST_HEADERS:
                raise TooLargeError(f"{len(response.headers.raw)} headers, of at most {MOST_HEADERS}")
            for part in response.iter_raw():
                parts.append(part)
                received.body += len(part)
                if received.body > most:
                    raise too_long(most, "has")
        finally:
            response.close()
        return b"".join(parts)

    def _unanswered(
        self, message: Message, url: str, began: float, log: ExchangeLog, operation: Operation | None
    ) -> int:
        sent, seconds = (message.method, url, message.headers, message.body), time.perf_counter() - began
        return self._noted(RawExchange(*sent, None, {}, "", seconds, _name(operation), began=began), log)

    def _noted(self, raw: RawExchange, log: ExchangeLog) -> int:
        if self.timings is not None:
            self.timings(raw.timing)
        return log.add(raw)


def _never_sent(problem: httpx.HTTPError | httpx.InvalidURL, number: int) -> Inconclusive:
    if isinstance(problem, httpx.LocalProtocolError):  # its message holds the header
        return Unsendable("values that a header can hold (RFC 9110, 5.5)", "another one", number)
    if "CERTIFICATE_VERIFY_FAILED" in str(problem):
        return Untrusted("a certificate that this machine trusts", str(problem), number)
    return Unreachable("a node that listens", f"{type(problem).__name__}: {problem}", number)


class _Course:
    """What happened to a request: httpcore names each event of it."""

    def __init__(self) -> None:
        self._opened = False
        self._answered = False

    def note(self, event: str, _: Mapping[str, object]) -> None:
        """Note an event."""
        self._opened = self._opened or event.endswith(".connect_tcp.started")
        self._answered = self._answered or event.endswith(".receive_response_headers.complete")

    @property
    def ended_unanswered_on_a_kept_connection(self) -> bool:
        """Whether the connection had carried an earlier request and brought no answer to this one."""
        return not self._opened and not self._answered


def _content(message: Message) -> bytes | Iterator[bytes] | None:
    """The body as httpx takes it: in pieces where a header says that it comes in chunks (RFC 9112, 7.1)."""
    if message.body is None:
        return None
    content = message.body.encode("utf-8", "surrogatepass")
    if any(name.lower() == "transfer-encoding" for name in message.headers):
        return iter([content[:BYTES_OF_FIRST_CHUNK], content[BYTES_OF_FIRST_CHUNK:]])
    return content


def control_token(profile: Profile) -> str | None:
    """The token of the test control; None where the profile names no variable, or one that is not set."""
    variable = profile.control_token_variable
    return None if variable is None else os.environ.get(variable, "").strip() or None


def _longest(profile: Profile) -> float:
    """The longest time-out in seconds, that of runs."""
    forms = profile.exec.failure_and_limits
    return max(TIMEOUT_SECONDS, forms.timeout_seconds + 15.0 if forms else 0.0)


def asked_to_wait(answer: Answer, default: float | None = None) -> float | None:
    """The seconds after which a node that limits the rate of requests permits a retry (RFC 6585, 4).

    A request answered with 429 was not carried out, so any may be repeated. `default` is for a 429 that says nothing of
    time. None: the answer permits no retry.
    """
    after = answer.headers.get("retry-after", "").strip()
    if answer.status != 429:
        return None
    if not after:
        return default
    seconds = float(after) if after.isdecimal() else _seconds_until(after, answer.headers.get("date", ""))
    return None if seconds is None else max(seconds, RETRY_SECONDS)


def _seconds_until(date: str, now: str) -> float | None:
    """The seconds to an HTTP date (RFC 9110, 5.6.7) from the node's `now`, or from ours where it tells none."""
    try:
        begin = http_date(now) if now else datetime.now(UTC)
        return (http_date(date) - begin).total_seconds()
    except ValueError:
        return None


def _name(operation: Operation | None) -> str:
    return operation.name if operation else ""


def _silence(problem: httpx.RequestError) -> str:
    if isinstance(problem, httpx.TimeoutException):
        return f"no answer in time ({type(problem).__name__}: {problem})"
    return f"the connection broke before the answer ({type(problem).__name__}: {problem})"


def plain(value: object) -> object:
    """A profile value as JSON has it."""
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    dump = getattr(value, "model_dump", None)
    return dump(mode="json") if callable(dump) else value
