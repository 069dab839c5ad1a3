"""AppAuthorisation: registered compose hashes (specification, "Endpoints / Attestation" rule 8)."""

from __future__ import annotations

import pytest
from deployed import Deployed
from world import OWNER, STRANGER, World, hash_of

HASH, OTHER_HASH = hash_of("compose file"), hash_of("another compose file")


@pytest.fixture
def authorisation(world: World) -> Deployed:
    return Deployed(world.config.chain, "AppAuthorisation", (OWNER.address,), STRANGER)


def test_deployment_names_the_owner_and_registers_nothing(authorisation: Deployed) -> None:
    assert authorisation.call("owner") == OWNER.address
    assert authorisation.call("allowedComposeHashes", HASH) is False


def test_owner_registers_and_withdraws_a_hash(authorisation: Deployed) -> None:
    assert authorisation.write("addComposeHash", HASH, sender=OWNER) == [("ComposeHashAdded", HASH)]
    assert authorisation.call("allowedComposeHashes", HASH) is True
    assert authorisation.call("allowedComposeHashes", OTHER_HASH) is False
    assert authorisation.write("removeComposeHash", HASH, sender=OWNER) == [("ComposeHashRemoved", HASH)]
    assert authorisation.call("allowedComposeHashes", HASH) is False
    assert authorisation.storage() == {}


@pytest.mark.parametrize("function", ["addComposeHash", "removeComposeHash"])
def test_nobody_else_does(authorisation: Deployed, function: str) -> None:
    authorisation.write("addComposeHash", HASH, sender=OWNER)
    item = OTHER_HASH if function == "addComposeHash" else HASH
    assert authorisation.refusal(function, item, sender=STRANGER) == ("NotOwner", STRANGER.address)
