"""Idempotency keys: a repeated key gets the first answer again (docs.stripe.com/api/idempotent_requests)."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

from reference_node.stripe_simulator.errors import IDEMPOTENCY, Object, StripeError

KEY_LENGTH = 255

LIFETIME_SECONDS = 24 * 3600
"""How long an answer is kept."""


@dataclass(frozen=True, slots=True)
class Saved:
    """The first request with a key, and its answer."""

    path: str
    members: Object
    time: float
    request_id: str
    status: int
    body: bytes


class IdempotencyKeys:
    """The keys of the last day. Not thread-safe: the simulator's lock guards it."""

    def __init__(self) -> None:
        self._saved: OrderedDict[str, Saved] = OrderedDict()
        self._in_use: set[str] = set()
        self.changed: dict[str, Saved | None] | None = None
        """Filled where somebody keeps the changes; `None`: forgotten."""

    def begin(self, key: str, path: str, members: Object, now: float) -> Saved | None:
        """The saved answer of a key; `None` reserves the key for this request. Raises `StripeError`."""
        if not key or len(key) > KEY_LENGTH:
            message = f"Idempotency keys have 1 to {KEY_LENGTH} characters, and this one has {len(key)}"
            raise StripeError(400, message, kind=IDEMPOTENCY)
        oldest = now - LIFETIME_SECONDS
        self._forget(oldest)
        if key in self._in_use:
            message = (
                "There is currently another in-progress request using this Idempotent Key (that probably means you "
                f"submitted twice, and the other request is still going through): {key}. Please try again later."
            )
            raise StripeError(409, message, kind=IDEMPOTENCY, code="idempotency_key_in_use")
        saved = self._saved.get(key)
        if saved is None or saved.time < oldest:  # it stays behind one that was saved while the clock was ahead
            self._in_use.add(key)
            return None
        if saved.path != path:
            scope = f"for the same endpoint they were first used for ('{path}' vs '{saved.path}')"
            raise _reused(key, scope)
        if saved.members != members:
            raise _reused(key, "with the same parameters they were first used with")
        return saved

    def save(self, key: str, saved: Saved) -> None:
        """Save the answer."""
        self._saved[key] = saved
        if self.changed is not None:
            self.changed[key] = saved

    def release(self, key: str) -> None:
        """Release the key."""
        self._in_use.discard(key)

    def _forget(self, before: float) -> None:
        while self._saved and next(iter(self._saved.values())).time < before:
            key, _ = self._saved.popitem(last=False)
            if self.changed is not None:
                self.changed[key] = None


def _reused(key: str, scope: str) -> StripeError:
    message = (
        f"Keys for idempotent requests can only be used {scope}. Try using a key other than '{key}' if you meant to "
        "execute a different request."
    )
    return StripeError(400, message, kind=IDEMPOTENCY)
