"""Each administrative write of AccountConfig emits the event that docs/contracts.md describes."""

from __future__ import annotations

import pytest
from world import ACCOUNT, WRITES, World, Write


def test_table_names_every_administrative_write(world: World) -> None:
    others = {
        "newAccount",
        "newChainSecuredAccount",
        "convertToChainSecuredAccount",
        "setApiPayers",
        "setAdminApiPayer",
    }
    assert {write.function for write in WRITES} == world.config.interface.writes - others


@pytest.mark.parametrize("write", WRITES, ids=lambda write: write.function)
def test_write_emits_its_event(world: World, write: Write) -> None:
    assert world.write(write.function, ACCOUNT, *write.arguments) == [write.event]
