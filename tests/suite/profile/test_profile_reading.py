"""Reads of the profile's keys are told to whoever listens."""

from __future__ import annotations

from conformance.profile import Profile, listening, read_aside, resolve
from conformance.profile.section import Section
from conformance.service.at_once import at_once


def test_keys_that_are_read_are_told_with_their_values() -> None:
    told: dict[str, object] = {}
    profile = Profile()
    with listening(told.__setitem__):
        assert profile.semantics.settle_time_seconds == 0
        at_once([lambda: profile.brand.slug])
    assert told == {"semantics.settle_time_seconds": 0, "brand.slug": "service"}


def test_operation_knows_the_keys_that_say_how_it_is_served() -> None:
    keys = resolve(Profile(), "list_actions").keys
    assert keys["wire.list_items.fields.action.name"] == "name"
    assert "wire.list_items.fields.wallet.name" not in keys


def test_keys_that_are_read_aside_are_not_told() -> None:
    told: dict[str, object] = {}
    profile = Profile()
    with listening(told.__setitem__), read_aside() as aside:
        assert profile.crypto.cid_algorithm is not None
    assert told == {}
    assert aside == {"crypto.cid_algorithm": "ipfs_add_v0"}


def test_each_section_of_the_default_profile_stands_at_one_place() -> None:
    def places(section: Section) -> list[int]:
        inner = [value for _, value in section if isinstance(value, Section)]
        return [id(section), *(place for one in inner for place in places(one))]

    found = places(Profile())
    assert len(found) == len(set(found))
