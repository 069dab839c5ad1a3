"""Provides credit for the accounts that a case converts, where the node leaves their own credit behind (MODE-300)."""

from __future__ import annotations

from conformance.drivers.sections import set_up
from conformance.endpoints.messages import Answer, AskedAt
from conformance.endpoints.requests import OutgoingRequest
from conformance.problems import ProfileSilent
from conformance.profile import read_aside
from conformance.service.accounts import CONVERSION
from conformance.service.payments import Payments
from conformance.service.session import Session


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
