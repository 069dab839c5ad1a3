"""Usage API keys and their permissions ("Resources and their fields / Usage API key")."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from conformance.endpoints.messages import Answer
from conformance.problems import Malformed
from conformance.service.acceptance import Accepted
from conformance.service.lists import read_list
from conformance.service.session import DESCRIPTION, Session
from conformance.values.ids import UsageKey
from conformance.values.json_values import member, printed


@dataclass(frozen=True)
class Permissions:
    """The permission fields; an array holds group ids, `[0]` means all groups."""

    can_create_groups: bool = False
    can_delete_groups: bool = False
    can_create_pkps: bool = False
    manage_ipfs_ids_in_groups: Sequence[int] = ()
    add_pkp_to_groups: Sequence[int] = ()
    remove_pkp_from_groups: Sequence[int] = ()
    execute_in_groups: Sequence[int] = ()

    @property
    def members(self) -> dict[str, object]:
        """As request members."""
        return {name: value if isinstance(value, bool) else list(value) for name, value in asdict(self).items()}

    def but(self, fields: Mapping[str, bool | Sequence[int]]) -> Permissions:
        """The same with other values of some fields, each of its field's type."""
        return replace(self, **fields)  # type: ignore[arg-type]

    @property
    def arguments(self) -> list[object]:
        """As arguments of the contract: three bools, then four arrays."""
        return list(self.members.values())

    @property
    def record(self) -> dict[str, object]:
        """As members of the contract's record of a usage key, by the names of the default profile."""
        return {_camel(name): value for name, value in self.members.items()}


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


NO_PERMISSIONS = Permissions()
ALL_PERMISSIONS = Permissions(True, True, True, [0], [0], [0], [0])


@dataclass(frozen=True)
class AddedUsageKey:
    """A usage key that was added to an account."""

    key: UsageKey
    accepted: Accepted
    """The control for refusals of `add_usage_api_key`."""


class UsageKeys:
    """Operations on usage keys with their account's key."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def add(self, key: str, permissions: Permissions = NO_PERMISSIONS, name: str = "") -> AddedUsageKey:
        """A new usage key."""
        request = self._session.request("add_usage_api_key", key, **self._labels(name), **permissions.members)
        answer, accepted = self._session.accept(request)
        return AddedUsageKey(self.value_in(answer), accepted)

    @staticmethod
    def value_in(answer: Answer) -> UsageKey:
        """The value of the new usage key in an answer of `add_usage_api_key`. Malformed: it has none."""
        value = member(answer.value, "usage_api_key")
        if not isinstance(value, str):
            raise Malformed("a new usage key", printed(answer.value)[:300], answer.exchange)
        return UsageKey(value)

    def executing_in(self, key: str, *groups: int) -> UsageKey:
        """The value of a new usage key that may execute in these groups and do nothing else."""
        return self.add(key, Permissions(execute_in_groups=groups)).key

    def update(self, key: str, usage_key: str, permissions: Permissions, name: str = "") -> Accepted:
        """Replace a usage key's labels and permissions."""
        request = self._session.request(
            "update_usage_api_key", key, usage_api_key=usage_key, **self._labels(name), **permissions.members
        )
        return self._session.accept(request)[1]

    def rename(self, key: str, usage_key: str, name: str = "") -> Accepted:
        """Replace a usage key's labels."""
        request = self._session.request(
            "update_usage_api_key_metadata", key, usage_api_key=usage_key, **self._labels(name)
        )
        return self._session.accept(request)[1]

    def remove(self, key: str, usage_key: str) -> Accepted:
        """Remove a usage key."""
        return self._session.accept(self._session.request("remove_usage_api_key", key, usage_api_key=usage_key))[1]

    def list(self, key: str) -> list[object]:
        """The account's usage keys as `list_api_keys` shows them, without their values."""
        return read_list(self._session, "list_api_keys", key)

    def _labels(self, name: str) -> dict[str, object]:
        return {"name": f"{self._session.label} {name}".strip(), "description": DESCRIPTION}
