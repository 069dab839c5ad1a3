"""Provides credit for the accounts that a case converts, where the node leaves their own credit behind (MODE-300)."""

from __future__ import annotations

from conformance.drivers.sections import set_up
from conformance.drivers.steps.caserun import CaseRun
from conformance.endpoints.messages import Answer, AskedAt
from conformance.endpoints.requests import OutgoingRequest
from conformance.problems import OutOfCredit, ProfileSilent, StepProblem
from conformance.profile import read_aside
from conformance.service.accounts import CONVERSION
from conformance.service.payments import Payments
from conformance.service.session import Session

CREDITS_OF_CONVERTED = "billing.credits_after_conversion"


def left_behind(problem: StepProblem, run: CaseRun) -> dict[str, object]:
    """The assumed key that says where credit is after a conversion, where a case with a conversion has none."""
    if not isinstance(problem, OutOfCredit) or CONVERSION not in run.log.operations:
        return {}
    with read_aside():
        value = run.target.profile_value(CREDITS_OF_CONVERTED)
    return {CREDITS_OF_CONVERTED: value} if CREDITS_OF_CONVERTED in run.target.profile.assumed else {}


def provide_after_conversions(session: Session) -> None:
    """From now on, buy credit for the new admin wallet of each account that is converted, by the profile's need."""
    with read_aside():
        left = session.profile.billing.credits_after_conversion == "left"
    if not left or not session.profile.offers("payment_sandbox"):
        return

    def provide(request: OutgoingRequest, answer: Answer) -> None:
        if request.operation.name != CONVERSION or not answer.accepted or answer.asked_at is not AskedAt.ENDPOINT:
            return
        admin = str(request.members.get("new_admin_wallet_address")).lower()
        for wallet in session.wallets:
            if wallet.address.lower() == admin:
                try:
                    with set_up():
                        Payments(session).buy_by_wallet(wallet)
                except ProfileSilent:  # how a wallet shows itself to billing; the case may need no credit
                    return

    session.witnesses.append(provide)
