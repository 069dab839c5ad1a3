"""The account of an execution matrix, and what its owner does in it over HTTP, each thing with one request.

Specification, "Endpoints": account and key management, groups, wallets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from conformance.drivers.steps.calls import LABELS
from conformance.drivers.steps.caserun import CaseRun
from conformance.drivers.steps.lists import read_pages
from conformance.drivers.steps.refusals import must_accept
from conformance.endpoints.client import Answer
from conformance.endpoints.requests import OutgoingRequest
from conformance.language.derivations import pkp_id_in
from conformance.problems import Mismatch
from conformance.values.json_values import MISSING, member, printed

OPERATIONS = (
    "new_account",
    "create_wallet",
    "list_wallets",
    "add_group",
    "list_groups",
    "update_group",
    "add_usage_api_key",
    "remove_usage_api_key",
)
NO_PERMISSION: dict[str, object] = {
    "can_create_groups": False,
    "can_delete_groups": False,
    "can_create_pkps": False,
    "manage_ipfs_ids_in_groups": [],
    "add_pkp_to_groups": [],
    "remove_pkp_from_groups": [],
}
DESCRIPTION = "made by the execution matrix"


@dataclass(frozen=True)
class PkpWallet:
    """A wallet of the account."""

    id: str
    """The PKP id."""
    address: str


@dataclass(frozen=True)
class Lists:
    """What a group permits, as requests have it."""

    pkp_ids: Sequence[object]
    cid_hashes: Sequence[object]


class Owner:
    """An API-mode account. Raises what the requests raise when one is not accepted."""

    def __init__(self, run: CaseRun) -> None:
        self._run = run
        self._label = printed(run.scope.variables["label"])
        self.key = ""
        """The account key."""
        made = self._send("new_account", account_name=self._label, account_description=DESCRIPTION)
        self.key = printed(member(made.value, "api_key"))

    def _send(self, operation: str, **members: object) -> Answer:
        served = self._run.target.operation(operation)
        answer = self._run.send(OutgoingRequest(served, self.key or None, members=members))
        must_accept(answer)
        return answer

    def wallets(self, count: int) -> list[PkpWallet]:
        """So many new wallets."""
        names = self._run.target.operation("create_wallet").request
        labels = {"name": self._label, "description": LABELS["description"]}
        given = {name: text for name, text in labels.items() if name in names}
        made = [self._send("create_wallet", **given) for _ in range(count)]
        addresses = [printed(member(answer.value, "wallet_address")) for answer in made]
        listed = read_pages(self._run, OutgoingRequest(self._run.target.operation("list_wallets"), self.key))
        return [PkpWallet(pkp_id_in(self._run.scope, listed, address), address) for address in addresses]

    def group(self, name: str, lists: Lists) -> object:
        """A new group: its id, as lists show it."""
        self._send(
            "add_group",
            group_name=f"{self._label} {name}",
            group_description=DESCRIPTION,
            pkp_ids_permitted=list(lists.pkp_ids),
            cid_hashes_permitted=list(lists.cid_hashes),
        )
        groups = read_pages(self._run, OutgoingRequest(self._run.target.operation("list_groups"), self.key))
        newest = member(groups, "-1")
        if member(newest, "id") is MISSING:
            raise Mismatch("the new group last in list_groups", printed(newest))
        return member(newest, "id")

    def rewrite(self, group: object, name: str, lists: Lists) -> None:
        """Other lists for a group."""
        self._send(
            "update_group",
            group_id=group,
            name=f"{self._label} {name}",
            description=DESCRIPTION,
            pkp_ids_permitted=list(lists.pkp_ids),
            cid_hashes_permitted=list(lists.cid_hashes),
        )

    def usage_key(self, name: str, execute_in: Sequence[object]) -> str:
        """A new usage key that may do nothing but run actions in these groups."""
        labels = {"name": f"{self._label} {name}", "description": DESCRIPTION}
        made = self._send("add_usage_api_key", **labels, **NO_PERMISSION, execute_in_groups=list(execute_in))
        return printed(member(made.value, "usage_api_key"))

    def begin(self, ending: Mapping[str, Sequence[object]]) -> None:
        """All keys are made; those that are to end are named, with the groups in which they execute."""

    def end(self, keys: Sequence[str]) -> None:
        """These keys count no more: they are removed."""
        for key in keys:
            self._send("remove_usage_api_key", usage_api_key=key)
