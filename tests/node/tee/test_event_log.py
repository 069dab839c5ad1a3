"""The event log: digests as rule 6 states them, and registers that anyone can replay."""

from __future__ import annotations

import json

import pytest
from dstack_sdk.dstack_client import GetQuoteResponse

from reference_node.tee.boot import boot_events
from reference_node.tee.event_log import RUNTIME_EVENT, replay, runtime_events
from reference_node.tee.identity import identity_of

IDENTITY = identity_of(b"\x11" * 32, b"\x22" * 20, "{}")
EVENTS = [*boot_events(), *runtime_events(IDENTITY)]


def test_boot_events_cover_the_first_three_registers() -> None:
    boot = boot_events()
    assert len(boot) == 20
    assert {event.register for event in boot} == {0, 1, 2}
    assert all(len(event.digest) == 48 and event.kind != RUNTIME_EVENT for event in boot)


@pytest.mark.parametrize(
    ("said", "kind", "digest"),
    [
        (b"Calling EFI Application from Boot Option", 0x80000007, "77a0dab2312b4e1e57a84d865a21e5b2"),
        (bytes(4), 4, "394341b7182cd227c5c6b07ef8000cdf"),
        (b"Exit Boot Services Invocation", 0x80000007, "214b0bef1379756011344877743fdc2a"),
        (b"Exit Boot Services Returned with Success", 0x80000007, "0a2e01c85deae718a530ad8c6d20a840"),
        ("SecureBoot".encode("utf-16-le"), 0x80000001, "9dc3a1f80bcec915391dcda5ffbb15e7"),
        ("dbx".encode("utf-16-le"), 0x80000001, "18cc6e01f0c6ea99aa23f8a280423e94"),
        ("BootOrder".encode("utf-16-le") + bytes(2), 0x80000002, "1dd6f7b457ad880d840d41c961283bab"),
    ],
)
def test_what_any_guest_measures_has_the_digest_that_logs_of_hardware_show(said: bytes, kind: int, digest: str) -> None:
    found = [event for event in boot_events() if event.kind == kind and event.payload.endswith(said)]
    assert found
    assert all(event.digest.hex().startswith(digest) for event in found)


def test_first_register_alone_depends_on_the_machine() -> None:
    usual, larger = replay(boot_events()), replay(boot_events(processors=8, memory=16 * 2**30))
    assert [a == b for a, b in zip(usual, larger, strict=True)] == [False, True, True, True]


def test_dstack_sdk_replays_the_same_registers() -> None:
    filled = [{**event.as_json(), "digest": event.digest.hex()} for event in EVENTS]  # it takes empty ones for zeros
    replayed = GetQuoteResponse(quote="", event_log=json.dumps(filled)).replay_rtmrs()
    assert [replayed[index] for index in range(4)] == [register.hex() for register in replay(EVENTS)]
