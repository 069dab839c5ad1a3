"""The clock by which a node judges `issuedAt` of signed envelopes, found by mints of known age ("Limits": ±300 s)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from conformance.doctor.finding import Finding, State
from conformance.endpoints.messages import Answer
from conformance.service.contract import chain_id
from conformance.service.envelopes import domain_name, typed_data_forms
from conformance.service.session import Session
from conformance.values.json_text import written
from conformance.values.typed_data import Wallet, digest, envelope

WINDOW_SECONDS = 300
"""The longest permitted distance of `issuedAt` from the node's time, in seconds ("Limits")."""
DOUBTFUL_SECONDS = 30
PRECISE_SECONDS = 4
"""How exactly a bound of the window is found; the requests themselves take a part of it."""
CHECK = "clock"
MINT = "create_wallet_with_signature"
HOURS = range(2, 15)
"""Clocks that tell the time of another zone."""
EVERY_SECONDS = 500
"""Less than the width of the window: one of the envelopes so far apart is in it."""
FAR_SECONDS = 7_500


class _Unclear(Exception):  # noqa: N818 - an answer that is neither yes nor no
    """An answer that does not judge the envelope."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.summary)


def signing_clock(session: Session) -> Finding | None:
    """Say by how many seconds the node's time is off, by the bounds of the window in which it takes envelopes.

    Mints some twenty wallets, which belong to no account. None: the profile does not offer them.
    """
    if not session.profile.offers("wallet_signed"):
        return None
    wallet = Wallet(f"{session.seed}|clock")

    def takes(seconds: int) -> bool:
        """Whether an envelope counts that was issued so many seconds from this machine's time."""
        answer = _mint(session, wallet, int(time.time()) + seconds)
        if not answer.accepted and answer.status not in range(400, 429):
            raise _Unclear(answer)
        return answer.accepted

    try:
        taken = next((seconds for seconds in _guesses() if takes(seconds)), None)
        if taken is None:
            mend = "see brand.title and wire.typed_data of the profile, or the clock is off by more"
            return Finding(CHECK, State.DOUBTFUL, "no signed envelope is taken, whenever it was issued", mend)
        latest, earliest = _bound(takes, taken, 1), _bound(takes, taken, -1)
    except _Unclear as problem:
        return Finding(CHECK, State.NOT_TRIED, f"{MINT}: {problem}")
    if latest is None or earliest is None:
        mend = "`run --pack envelopes` judges the window"
        return Finding(CHECK, State.DOUBTFUL, f"envelopes count that are {2 * WINDOW_SECONDS} s from others", mend)
    return _told(earliest, latest)


def _told(earliest: int, latest: int) -> Finding:
    apart = round((earliest + latest) / 2)
    seen = f"signed envelopes count from {earliest} to {latest} s of this machine's time"
    if abs(apart) <= DOUBTFUL_SECONDS:
        return Finding(CHECK, State.WELL, f"{abs(apart)} s from this machine's: {seen}")
    state = State.DOUBTFUL if earliest < 0 < latest else State.WRONG
    mend = f"set one of the two clocks: signed requests count for {WINDOW_SECONDS} s"
    return Finding(CHECK, state, f"{abs(apart)} s {'ahead of' if apart > 0 else 'behind'} this machine's: {seen}", mend)


def _guesses() -> Iterator[int]:
    """Seconds from this machine's time that find the window, the likeliest first."""
    yield 0
    for seconds in range(EVERY_SECONDS, FAR_SECONDS, EVERY_SECONDS):
        yield from (seconds, -seconds)
    for hours in HOURS:
        yield from (hours * 3600, -hours * 3600)


def _bound(takes: Callable[[int], bool], taken: int, side: int) -> int | None:
    """The last second on one side that counts; None: seconds beyond the window's width count, too."""
    within, beyond = taken, taken + side * (2 * WINDOW_SECONDS + DOUBTFUL_SECONDS)
    if takes(beyond):
        return None
    while abs(beyond - within) > PRECISE_SECONDS:
        middle = (within + beyond) // 2
        within, beyond = (middle, beyond) if takes(middle) else (within, middle)
    return round((within + beyond) / 2)


def _mint(session: Session, wallet: Wallet, issued_at: int) -> Answer:
    document = envelope(
        "CreateWallet",
        name=domain_name(session.profile),
        chain_id=chain_id(session),
        address=wallet.address,
        issued_at=issued_at,
    )
    typed_data: object = document if typed_data_forms(session.profile)[0] == "object" else written(document)
    signature = wallet.sign(digest(document)).text
    return session.send(session.request(MINT, typed_data=typed_data, signature=signature), at_once=True)
