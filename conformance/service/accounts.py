"""The only module that creates accounts, over HTTP or on the chain, converts them, and provides their credits.

Specification, "Endpoints / Account and key management", "States and transitions / Account mode".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from conformance.endpoints.control import tell_control
from conformance.endpoints.requests import OutgoingRequest
from conformance.problems import Malformed, ProfileSilent, SetupFailed
from conformance.profile import Profile
from conformance.profile.chain import CREATION
from conformance.service.acceptance import Accepted
from conformance.service.contract import Contract, must_succeed
from conformance.service.derivations import account_hash, wallet_hash
from conformance.service.envelopes import sign_envelope
from conformance.service.payments import Payments
from conformance.service.session import DESCRIPTION, Session
from conformance.service.suite_wallet import SuiteWallet
from conformance.values.ids import AccountHash, Address, ApiKey
from conformance.values.json_values import printed

CONVERSION = "convert_to_chain_secured_account"


@dataclass(frozen=True)
class Account:
    """An API-mode account."""

    key: ApiKey
    answer: dict[str, object]
    """What `new_account` answered, by canonical names."""
    accepted: Accepted
    """The control for refusals of `new_account`."""

    @property
    def wallet_address(self) -> Address:
        """The address of the wallet of its key."""
        return Address(printed(self.answer.get("wallet_address")))


@dataclass(frozen=True)
class ChainSecuredAccount:
    """An account that a wallet owns; it has no key."""

    hash: AccountHash
    """Its `apiKeyHash`."""
    admin: SuiteWallet


def makes_accounts(profile: Profile) -> bool:
    """Whether the suite can have API-mode accounts that pay for their writes on this node."""
    return profile.offers("managed_accounts") and profile.accounts.credits is not None


class Accounts:
    """Makes the accounts of a case."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def new(
        self, description: str = DESCRIPTION, members: Mapping[str, object] | None = None, *, spends: bool = True
    ) -> Account:
        """Create an API-mode account; `members` are further members of the request by canonical name.

        With `spends` it gets credit for writes and runs. ProfileSilent: the profile gives no way to provide credit.
        """
        labels = {"account_name": self._session.label, "account_description": description}
        request = self._session.request("new_account", **{**labels, **(members or {})})
        answer, accepted = self._session.accept(request)
        made = answer.value
        if not isinstance(made, dict) or not isinstance(made.get("api_key"), str):
            raise Malformed("a new account with an api_key", printed(made)[:300], answer.exchange)
        account = Account(ApiKey(made["api_key"]), made, accepted)
        if spends:
            self._provide_credits(account)
        return account

    def _provide_credits(self, account: Account) -> None:
        """Provide credit by the profile's `accounts.credits`."""
        match self._session.profile.accounts.credits:
            case "granted":
                return
            case "bought":
                Payments(self._session).buy(account.key)
            case None:
                raise ProfileSilent("a profile that says accounts.credits", "a profile that leaves it out")

    def spend_all(self, account: Account, leave: int = 0) -> None:
        """Spend an account's credit through the test control, all but some cents; needs `credit_control`."""
        session = self._session
        members: dict[str, JsonValue] = {"address": account.wallet_address}
        if leave:
            members["leave"] = leave
        answer = tell_control(session.target, session.log, "spend", members)
        if not answer.accepted:
            raise SetupFailed("a control that spends credit", answer.summary, answer.exchange)

    def by_wallet(self, admin: SuiteWallet, description: str = DESCRIPTION) -> ChainSecuredAccount:
        """Create a ChainSecured account on the chain, with this wallet as its admin. It has no credits."""
        receipt = Contract(self._session).send(admin, CREATION, [self._session.label, description])
        must_succeed(receipt, "a new ChainSecured account")
        account = ChainSecuredAccount(wallet_hash(admin.address), admin)
        self._session.cleanup.note_admin(account.hash, admin.address)
        return account

    def convert(self, key: str, admin: SuiteWallet) -> None:
        """Convert an API-mode account to a ChainSecured one of this wallet; its `apiKeyHash` stays."""
        self._session.accept(self.conversion(key, admin))

    def converted(self, key: str, admin: SuiteWallet) -> ChainSecuredAccount:
        """Convert an account and return it. ProfileSilent: the profile does not say how its hash is derived."""
        self.convert(key, admin)
        return ChainSecuredAccount(account_hash(key, self._session.profile), admin)

    def conversion(self, key: str | None, admin: SuiteWallet) -> OutgoingRequest:
        """The request of a conversion, signed by the new admin."""
        envelope = sign_envelope(self._session, "ConvertAccount", admin)
        return self._session.request(CONVERSION, key, **envelope.members, new_admin_wallet_address=admin.address)
