"""Actions: their CIDs, and the metadata that accounts register ("Endpoints / Wallets and actions")."""

from __future__ import annotations

from dataclasses import dataclass

from conformance.problems import Malformed
from conformance.service.acceptance import Accepted
from conformance.service.action_sources import source
from conformance.service.derivations import code_cid, hashed_cid, sample_cid
from conformance.service.lists import read_list
from conformance.service.session import DESCRIPTION, Session
from conformance.values.ids import Cid, GroupId, HashedCid
from conformance.values.json_values import member, printed

SAMPLE_CODE = "async function main() { return 'a conformance suite was here' }"
"""The code whose CID the node must confirm before the suite computes CIDs itself."""


@dataclass(frozen=True)
class ActionCode:
    """The code of an action with its CID and hashed CID."""

    code: str
    cid: Cid
    hash: HashedCid


class Actions:
    """Operations on actions with an account's key."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def source(self, name: str, mark: str = "") -> str:
        """The code of `fixtures/actions/NAME.js` for this node, an action of the case's own by its label and mark."""
        return source(name, self._session.profile, f"{self._session.label} {mark}".strip())

    def cid(self, code: str) -> Cid:
        """The raw CID of code, as the node computes it.

        The suite computes it after the node has confirmed the profile's `crypto.cid_algorithm` for `SAMPLE_CODE`.
        """
        computed = code_cid(code, self._session.profile.crypto.cid_algorithm)
        if computed is not None and self._session.target.remembered("computes CIDs", self._computes_as_stated):
            return computed
        return self.asked_cid(code)

    def _computes_as_stated(self) -> bool:
        return self.asked_cid(SAMPLE_CODE) == code_cid(SAMPLE_CODE, self._session.profile.crypto.cid_algorithm)

    def asked_cid(self, code: str) -> Cid:
        """The raw CID that the node answers for code."""
        answer = self._session.call("get_action_ipfs_id", code=code)
        stated = member(answer.value, "cid")
        if not isinstance(stated, str):
            raise Malformed("the CID of the code", printed(answer.value)[:300], answer.exchange)
        return Cid(stated)

    def prepared(self, name: str = "sign_message", mark: str = "") -> ActionCode:
        """The code of `fixtures/actions/NAME.js`, with the CID that the node computes for it."""
        return self.of_code(self.source(name, mark))

    def of_code(self, code: str) -> ActionCode:
        """Code with the CID that the node computes for it."""
        cid = self.cid(code)
        return ActionCode(code, cid, hashed_cid(cid))

    def without_a_wallet(self) -> ActionCode:
        """Code that uses no wallet."""
        return self.of_code(f"async function main() {{ return 'no wallet'; }}\n// {self._session.label}\n")

    def hashed_cid(self, code: str) -> HashedCid:
        """keccak256 of the CID that the node computes for code."""
        return hashed_cid(self.cid(code))

    def sample_cid(self, label: str) -> Cid:
        """A valid CID of no existing code; within a case, the same label gives the same CID."""
        return sample_cid(f"{self._session.seed.partition('//')[0]}|{label}")

    def add(self, key: str, cid: Cid, name: str = "") -> Accepted:
        """Register an action's name and description."""
        request = self._session.request("add_action", key, action_ipfs_cid=cid, **self._labels(name))
        return self._session.accept(request)[1]

    def update(self, key: str, hashed: HashedCid, name: str) -> Accepted:
        """Replace an action's name and description."""
        request = self._session.request("update_action_metadata", key, hashed_cid=hashed, **self._labels(name))
        return self._session.accept(request)[1]

    def delete(self, key: str, hashed: HashedCid) -> Accepted:
        """Delete an action and its metadata from the account."""
        return self._session.accept(self._session.request("delete_action", key, hashed_cid=hashed))[1]

    def list(self, key: str, group: GroupId | None = None) -> list[object]:
        """The account's actions as `list_actions` shows them, or those of one group."""
        members: dict[str, object] = {} if group is None else {"group_id": group}
        return read_list(self._session, "list_actions", key, **members)

    def _labels(self, name: str) -> dict[str, object]:
        return {"name": f"{self._session.label} {name}".strip(), "description": DESCRIPTION}
