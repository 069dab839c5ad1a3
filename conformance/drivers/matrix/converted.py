"""The ChainSecured account of an execution matrix: it is converted and then written by its admin wallet.

Specification, "States and transitions / Account mode", "Resources and their fields / Usage API key". An account that a
wallet makes has no credits to run anything with; those of a managed account follow it when it is converted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from conformance.drivers.matrix.account import Lists, MatrixAccount
from conformance.language.templates import CompileContext
from conformance.profile.chain import FUNCTION_KEYS
from conformance.profile.wire import ZERO_HASH
from conformance.service.accounts import CONVERSION, Accounts
from conformance.service.contract import Contract
from conformance.service.derivations import account_hash, usage_key_hash
from conformance.service.session import DESCRIPTION, Session
from conformance.service.suite_wallet import SuiteWallet
from conformance.service.usage_keys import Permissions
from conformance.service.wallets import Wallets
from conformance.values.ids import GroupId

LIFETIME_SECONDS = 1_000
"""How long the keys are valid: long enough for the runs before they expire."""
MARGIN_SECONDS = 5


def note_needs(context: CompileContext) -> None:
    """Note what a matrix of a ChainSecured account needs of the profile."""
    context.info.needs.update({"chain_rpc", "funded_wallet", "clock_control"})
    context.info.alone = True
    context.info.operations |= {CONVERSION, "get_node_chain_config"}
    context.info.uses.update({"crypto.api_key_hash_preimage", "crypto.usage_key_hash_preimage", "wire.typed_data.form"})
    context.info.uses.update(FUNCTION_KEYS[name] for name in ("update_group", "set_usage_api_key"))


class ConvertedMatrixAccount(MatrixAccount):
    """An account that is created over HTTP and converted before its keys are used."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._contract = Contract(session)
        self._hash = account_hash(self.key, session.profile)
        self._expiration = 0

    @cached_property
    def _admin(self) -> SuiteWallet:
        return Wallets(self._session).new("admin_of_cells")

    def before_ending(self, ending: Mapping[str, Sequence[int]]) -> None:
        """Convert the account, and give these keys an expiration."""
        Accounts(self._session).convert(self.key, self._admin)
        self.key = ""
        if not ending:
            return
        self._expiration = self._session.chain.timestamp() + LIFETIME_SECONDS
        for key, groups in ending.items():
            hashed = usage_key_hash(key, self._session.profile)
            labels = [self._session.label, DESCRIPTION]
            permissions = Permissions(execute_in_groups=groups).arguments
            self._write("set_usage_api_key", hashed, self._expiration, 0, *labels, *permissions)

    def end(self, keys: Sequence[str]) -> None:
        """Move the clock past the keys' expiration."""
        if keys:
            self._session.clock.move_to(self._expiration + MARGIN_SECONDS)

    def rewrite(self, group: GroupId, name: str, lists: Lists) -> None:
        """Replace the lists of a group."""
        labels = [f"{self._session.label} {name}", DESCRIPTION]
        cid_hashes = [_as_bytes32(entry) for entry in lists.cid_hashes]
        self._write("update_group", group, *labels, list(lists.pkp_ids), cid_hashes)

    def _write(self, function: str, *arguments: object) -> None:
        self._contract.write(self._admin, function, self._hash, *arguments)


def _as_bytes32(entry: object) -> object:
    """An entry of a group's actions in the contract's form. In requests the wildcard has other forms."""
    return entry if isinstance(entry, str) and len(entry) == len(ZERO_HASH) else ZERO_HASH
