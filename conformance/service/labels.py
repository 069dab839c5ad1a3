"""Which statement says that a list shows a label of an accepted write ("Resources and their fields", "Endpoints")."""

from __future__ import annotations

from collections.abc import Mapping

SHOWN_LABELS: Mapping[str, Mapping[str, str]] = {
    "add_group": {"name": "GRP-020", "description": "GRP-030"},
    "update_group": {"name": "GRPLIFE-020", "description": "GRPLIFE-030"},
    "add_usage_api_key": {"name": "UKEY-020", "description": "UKEY-030"},
    "update_usage_api_key": {"name": "KEYLIFE-130", "description": "KEYLIFE-130"},
    "update_usage_api_key_metadata": {"name": "KEYLIFE-060", "description": "KEYLIFE-060"},
    "add_action": {"name": "ACT-060", "description": "ACT-060"},
    "update_action_metadata": {"name": "EP-300", "description": "EP-300"},
}
"""By operation and label of the listed item."""
