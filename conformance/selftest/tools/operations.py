"""Names the operations that mutants alter together, as the node's paths have them, and limits of its profile."""

from __future__ import annotations

from conformance.profile import Profile, resolve
from conformance.profile.operations import GROUPS, MANAGEMENT, WALLETS_AND_ACTIONS
from conformance.selftest.tools.alter import CORE

SERVED = tuple(
    sorted(
        resolve(Profile(), name).path.removeprefix(CORE)
        for name in (MANAGEMENT | GROUPS | WALLETS_AND_ACTIONS).keys() - {"run_action"}
    )
)
"""The operations of accounts and the CID of a code."""

LISTS = tuple(name for name in SERVED if name.startswith("list_"))
WRITES = tuple(name for name in SERVED if name.startswith(("add_", "create_", "delete_", "remove_", "update_")))
"""The management writes: all that change an account, but its creation."""

RAW_CID_WRITES = ("add_action", "add_action_to_group")
"""The operations that take a raw CID."""

GROUP_MEMBER_WRITES = ("add_pkp_to_group", "remove_pkp_from_group", "add_action_to_group", "remove_action_from_group")
"""The operations that add to a group or remove from it."""

LARGEST_PAGE = "100"
"""The page size beyond which the profile of the reference node says that a list is refused."""
