"""The simulator without its transports: holds the account and answers requests."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Mapping

from reference_node.kept_file import StateUnavailable
from reference_node.log_limit import limited_logger
from reference_node.stripe_simulator import access
from reference_node.stripe_simulator.access import ApiKeys
from reference_node.stripe_simulator.conditions import Conditions, Fault, Plan
from reference_node.stripe_simulator.endpoints import ROUTES
from reference_node.stripe_simulator.errors import API, Object, StripeError
from reference_node.stripe_simulator.exchange import Answer, ApiRequest, Exchange, LogEntry
from reference_node.stripe_simulator.form import FormValue
from reference_node.stripe_simulator.idempotency import IdempotencyKeys, Saved
from reference_node.stripe_simulator.kept_payments import KeptPayments
from reference_node.stripe_simulator.operations import Call, Operation
from reference_node.stripe_simulator.paging import Page, expanded, page_view
from reference_node.stripe_simulator.parameters import Values, read_members
from reference_node.stripe_simulator.payment_intents import PaymentIntent
from reference_node.stripe_simulator.payments import Payments
from reference_node.stripe_simulator.settings import PROCESSING_SECONDS
from reference_node.stripe_simulator.store import Changed, SimulatedClock, Store, new_id

LOG = limited_logger("reference_node.stripe_simulator")

LOG_LENGTH = 10_000
"""The number of requests in the log."""

PUBLISHABLE_EXPANSIONS = {"payment_method"}


class StripeSimulator:
    """An account at Stripe, in test mode. Safe to call from many threads.

    It is in memory; `kept` is the file where it goes on from, and where each effect is written before it is answered.
    A transport calls `begin`, waits `plan.before` seconds, calls `complete`, waits `plan.after` seconds, and answers.
    """

    def __init__(
        self,
        keys: ApiKeys | None = None,
        clock: SimulatedClock | None = None,
        processing_seconds: float = PROCESSING_SECONDS,
        kept: KeptPayments | None = None,
    ) -> None:
        self.keys = keys or (kept.keys() if kept else ApiKeys())
        self.clock = clock or SimulatedClock()
        self._kept = kept
        self.conditions = Conditions()
        self.lock = threading.RLock()
        """Guards all state. Transports need not hold it."""
        self.processing_seconds = processing_seconds
        self._begin()
        if kept:
            self.clock.offset_seconds = kept.offset_seconds()
            kept.load(self.store, self._idempotency)
            self._note_changes()

    def _begin(self) -> None:
        self.store = Store(self.clock)
        self.payments = Payments(self.store, self.processing_seconds)
        self.log: deque[LogEntry] = deque(maxlen=LOG_LENGTH)
        self._idempotency = IdempotencyKeys()
        self._busy: set[str] = set()

    def _note_changes(self) -> None:
        self.store.changed, self._idempotency.changed = Changed(), {}

    def clear(self) -> None:
        """Remove all objects, idempotency keys and the log. Conditions and clock stay."""
        with self.lock:
            self._begin()
            if self._kept:
                self._kept.forget()
                self._note_changes()

    def keep(self) -> None:
        """Write what has changed, where that is kept. Raises `StateUnavailable`."""
        if self._kept:
            self._kept.save(self.store, self._idempotency, self.clock.offset_seconds)

    def begin(self, request: ApiRequest) -> Exchange:
        """Read a request and reserve its key and object. Refusals are answers."""
        with self.lock:
            self.payments.settle_due()
            exchange = Exchange(request, new_id("req_", 14), self.conditions.plan(request.method, request.path))
            try:
                self._admit(exchange)
            except StripeError as refusal:
                self._answer_refusal(exchange, refusal)
            return exchange

    def complete(self, exchange: Exchange) -> Answer | None:
        """Carry out the request. Returns its answer."""
        with self.lock:
            fault = exchange.plan.fault
            try:
                if not exchange.answered:
                    self._execute(exchange)
                if fault is not None and fault.kind == "repeat":
                    self._repeat(exchange)
                self._keep(exchange)
            finally:
                self._release(exchange)
            if fault is not None and fault.answers("after"):
                exchange.answer = self._fault_answer(exchange, fault)
            self._write_log(exchange)
            return exchange.answer

    def _keep(self, exchange: Exchange) -> None:
        try:
            self.keep()
        except StateUnavailable as fault:
            LOG.warning("the simulator of payments fails: %s", fault)  # callers need no path of this machine
            self._answer_refusal(exchange, StripeError(500, "The simulator can't keep its payments.", kind=API))

    def _admit(self, exchange: Exchange) -> None:
        plan, request = exchange.plan, exchange.request
        if plan.limit is not None:
            retry = {} if plan.limit.retry_after is None else {"retry-after": str(plan.limit.retry_after)}
            message = (
                "Request rate limit exceeded. Learn more about rate limits at https://stripe.com/docs/rate-limits."
            )
            headers = {"stripe-rate-limited-reason": "global-rate", **retry}
            raise StripeError(429, message, code="rate_limit", headers=headers)
        if plan.fault is not None and plan.fault.answers("before"):
            exchange.answer, exchange.answered = self._fault_answer(exchange, plan.fault), True
            return
        if isinstance(request.parameters, StripeError):
            raise request.parameters
        given = dict(request.parameters)
        publishable = self._publishable(request, given)
        exchange.version = access.version(request.headers)
        access.refuse_other_accounts(request.headers)
        operation, target = ROUTES.find(request.method, request.path)
        if publishable and not operation.publishable:
            raise access.require_secret()
        values = Values(read_members(operation.known, operation.required, given))
        _check_expansions(values, publishable)
        exchange.operation = operation
        exchange.call = Call(self.store, self.payments, values, request.path, target, publishable)
        self._take_into_use(exchange)

    def _publishable(self, request: ApiRequest, given: dict[str, FormValue]) -> bool:
        named = given.pop("key", None)  # browsers send this type to avoid a preflight request
        key = access.api_key(request.headers) or (named if isinstance(named, str) else None)
        if key is None:
            raise access.no_key()
        return self.keys.publishable_only(key)

    def _take_into_use(self, exchange: Exchange) -> None:
        call, request = exchange.call, exchange.request
        assert call is not None  # noqa: S101 - admitted
        if request.method == "GET":
            return
        key = request.headers.get("idempotency-key") if request.method == "POST" else None
        if key is not None:
            saved = self._idempotency.begin(key, request.path, call.values.members, self.clock.now())
            if saved is not None:
                headers = {"idempotency-key": key, "idempotent-replayed": "true", "original-request": saved.request_id}
                exchange.answer = self._answer(exchange, saved.status, saved.body, headers)
                exchange.answered = exchange.replayed = True
                return
            exchange.key = key
        if call.target in self._busy:
            message = (
                "This object cannot be accessed right now because another API request or Stripe process is currently "
                "accessing it. If you see this error intermittently, retry the request."
            )
            raise StripeError(429, message, code="lock_timeout", headers={"stripe-should-retry": "true"})
        if call.target:
            self._busy.add(call.target)
            exchange.target = call.target

    def _execute(self, exchange: Exchange) -> None:
        call, operation, fault = exchange.call, exchange.operation, exchange.plan.fault
        assert call is not None  # noqa: S101 - there is something to carry out
        assert operation is not None  # noqa: S101
        headers = {} if exchange.key is None else {"idempotency-key": exchange.key}
        if fault is not None and fault.answers("saved"):
            exchange.answer = self._fault_answer(exchange, fault)
        else:
            try:
                body, status = self._view(call, operation), 200
            except StripeError as refusal:
                body, status = self._error_view(exchange, refusal), refusal.status
                headers |= refusal.headers
            exchange.answer = self._answer(exchange, status, _encoded(body), headers)
        exchange.answered = True
        if exchange.key is not None and exchange.answer is not None:
            answer = exchange.answer
            saved = Saved(
                call.path, call.values.members, self.clock.now(), exchange.request_id, answer.status, answer.body
            )
            self._idempotency.save(exchange.key, saved)

    def _view(self, call: Call, operation: Operation) -> Object:
        result = operation.handle(call)
        expansions = call.values.texts("expand")
        if isinstance(result, Page):
            return page_view(self.store, result, expansions)
        publishable = call.publishable and isinstance(result, PaymentIntent)
        view = result.publishable_view() if publishable and isinstance(result, PaymentIntent) else result.view()
        return expanded(self.store, result, view, expansions)

    def _repeat(self, exchange: Exchange) -> None:
        """Carry out the request again, as if a client repeated it after losing the answer."""
        self._release(exchange)
        again = Exchange(exchange.request, new_id("req_", 14), Plan())
        try:
            self._admit(again)
        except StripeError as refusal:
            self._answer_refusal(again, refusal)
        try:
            if not again.answered:
                self._execute(again)
        finally:
            self._release(again)
        self._write_log(exchange)
        exchange.request_id, exchange.answer, exchange.replayed = again.request_id, again.answer, again.replayed

    def _release(self, exchange: Exchange) -> None:
        if exchange.key is not None:
            self._idempotency.release(exchange.key)
        if exchange.target is not None:
            self._busy.discard(exchange.target)

    def _answer_refusal(self, exchange: Exchange, refusal: StripeError) -> None:
        body = _encoded(self._error_view(exchange, refusal))
        exchange.answer = self._answer(exchange, refusal.status, body, refusal.headers)
        exchange.answered = True

    def _error_view(self, exchange: Exchange, error: StripeError) -> Object:
        view = error.view()
        if error.intent is not None:
            publishable = exchange.call is None or exchange.call.publishable
            view["payment_intent"] = error.intent.publishable_view() if publishable else error.intent.view()
        view["request_log_url"] = f"https://dashboard.stripe.com/test/logs/{exchange.request_id}"
        return {"error": view}

    def _fault_answer(self, exchange: Exchange, fault: Fault) -> Answer | None:
        if fault.kind == "drop":
            return None
        headers = {} if fault.retry_after is None else {"retry-after": str(fault.retry_after)}
        if fault.should_retry is not None:
            headers["stripe-should-retry"] = str(fault.should_retry).lower()
        if fault.kind == "garbage":
            answer = self._answer(exchange, fault.status, fault.body.encode(), headers)
            answer.headers["content-type"] = "text/html"
            return answer
        error = StripeError(fault.status, "An error that the simulator was told to answer.", kind=API, code=fault.code)
        return self._answer(exchange, fault.status, _encoded(self._error_view(exchange, error)), headers)

    def _answer(self, exchange: Exchange, status: int, body: bytes, headers: Mapping[str, str]) -> Answer:
        return Answer(
            status,
            {
                "content-type": "application/json",
                "request-id": exchange.request_id,
                "stripe-version": exchange.version,
                **headers,
            },
            body,
        )

    def _write_log(self, exchange: Exchange) -> None:
        request, answer = exchange.request, exchange.answer
        key = request.headers.get("idempotency-key")
        status = None if answer is None else answer.status
        self.log.append(LogEntry(exchange.request_id, request.method, request.path, key, status, exchange.replayed))


def _check_expansions(values: Values, publishable: bool) -> None:
    forbidden = [path for path in values.texts("expand") if publishable and path not in PUBLISHABLE_EXPANSIONS]
    if forbidden:
        message = f"With a publishable key this property cannot be expanded ({forbidden[0]})."
        raise StripeError(400, message, param="expand")


def _encoded(body: Object) -> bytes:
    return json.dumps(body, separators=(",", ":")).encode()
