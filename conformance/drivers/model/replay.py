"""Writes a failing sequence as a pack that shows the failure by itself and passes on a correct node."""

from __future__ import annotations

from collections.abc import Sequence

import yaml
from pydantic import JsonValue

from conformance.drivers.model.acts import Act
from conformance.drivers.model.form import ACTS

HEAD = """\
# {source}, sequence {number}, seed {seed}: shrunk.
# As replay.yaml in a folder: service-conformance run --pack-dir FOLDER --pack replay
"""


def replay_text(
    acts: list[Act],
    requirements: Sequence[str],
    accounts: dict[str, int],
    *,
    source: str,
    number: int,
    seed: str,
) -> str:
    """The text of the pack, whose only case plays these acts; `accounts` are the members that say which there are."""
    case: dict[str, JsonValue] = {
        "id": "replay",
        "title": f"{len(acts)} acts in sequence {number}, after which the node and the model disagree",
        "driver": "model",
        "requirements": [*requirements],
        **accounts,
        "acts": ACTS.dump_python(acts, mode="json", exclude_defaults=True),
    }
    pack = {"pack": "replay", "title": f"A failing sequence of {source}", "cases": [case]}
    body = yaml.safe_dump(pack, sort_keys=False, allow_unicode=True, width=120, default_flow_style=None)
    return HEAD.format(source=source, number=number, seed=seed) + body
