"""Wallets that the service holds for an account ("Resources and their fields / Wallet (PKP)")."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass

from conformance.endpoints.messages import Answer
from conformance.endpoints.requests import OutgoingRequest
from conformance.profile import Operation, read_aside
from conformance.service.acceptance import Accepted
from conformance.service.derivations import ID_RULE, pkp_id, pkp_id_in
from conformance.service.lists import one_item_page, read_list
from conformance.service.session import DESCRIPTION, Session
from conformance.values.ids import Address, GroupId, PkpId
from conformance.values.json_values import MISSING, member, printed


@dataclass(frozen=True)
class Pkp:
    """A wallet of an account."""

    id: PkpId
    address: Address
    accepted: Accepted
    """The control for refusals of `create_wallet`."""


class Pkps:
    """Operations on an account's wallets with its key or a permitted usage key."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def create(self, key: str) -> Pkp:
        """A new wallet."""
        return self.create_several(key, 1)[0]

    def create_several(self, key: str, count: int) -> list[Pkp]:
        """Create `count` wallets; their ids as in `listed`."""
        return self.listed(key, self.creations(key, count))

    def creations(self, key: str, count: int) -> list[tuple[Answer, Accepted]]:
        """Create `count` wallets. The answers."""
        request = self.creation(key)
        return [self._session.accept(request) for _ in range(count)]

    def listed(self, key: str, made: Sequence[tuple[Answer, Accepted]]) -> list[Pkp]:
        """Wallets that were created, with their ids.

        These are read from the list. Where the profile states how they are made and the run's first ones were listed
        so, they are computed.
        """
        addresses = [Address(printed(member(answer.value, "wallet_address"))) for answer, _ in made]
        ids = self._ids(key, addresses)
        return [Pkp(own, address, accepted) for own, address, (_, accepted) in zip(ids, addresses, made, strict=True)]

    def _ids(self, key: str, addresses: Sequence[Address]) -> list[PkpId]:
        target = self._session.target
        with read_aside():
            rule = target.profile_value(ID_RULE)
        if rule is None or ID_RULE in target.profile.assumed:
            return self._ids_in_list(key, addresses)
        computed, listed = [pkp_id(address, rule) for address in addresses], list[PkpId]()

        def holds() -> bool:
            listed.extend(self._ids_in_list(key, addresses))
            return listed == computed

        if target.remembered(ID_RULE, holds):
            self._session.note_computed(self._first_page(key), dict(zip(addresses, computed, strict=True)))
            return computed
        return listed or self._ids_in_list(key, addresses)

    def _ids_in_list(self, key: str, addresses: Sequence[Address]) -> list[PkpId]:
        listed = self.list(key)
        with nullcontext() if any(member(item, "id") is MISSING for item in listed) else read_aside():
            rule = self._session.target.profile_value(ID_RULE)
        return [pkp_id_in(listed, address, rule) for address in addresses]

    def _first_page(self, key: str) -> OutgoingRequest:
        page = {**one_item_page(self._session), "page_size": self._session.target.page_size}
        return self._session.request("list_wallets", key, **page)

    def creation(self, key: str) -> OutgoingRequest:
        """The request for a new wallet."""
        operation = self._session.target.operation("create_wallet")
        return self._session.request("create_wallet", key, **wallet_labels(operation, self._session.label))

    def list(self, key: str, group: GroupId | None = None) -> list[object]:
        """The account's wallets as `list_wallets` shows them, or those of one group."""
        if group is None:
            return read_list(self._session, "list_wallets", key)
        return read_list(self._session, "list_wallets_in_group", key, group_id=group)


def wallet_labels(operation: Operation, name: str) -> dict[str, object]:
    """The labels of a new wallet that the node accepts by its profile."""
    labels: dict[str, object] = {"name": name, "description": DESCRIPTION}
    return {label: text for label, text in labels.items() if label in operation.request}
