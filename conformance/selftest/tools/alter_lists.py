"""Tools for faults about lists."""

from __future__ import annotations

from collections.abc import Callable

from reference_node.chain.account_config import Group

GREATEST_PAGE = "100"
View = Callable[..., list[Group]]
