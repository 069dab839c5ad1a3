"""Boot events by name, and the refusal that names the register and the event which differs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.attestation_vectors.files import Vector, shipped
from conformance.verify import Evidence, Measurements, Policy, Rule, verify
from conformance.verify.boot import boot_events
from conformance.verify.event_log import Event, read_event_log
from conformance.verify.policy_file import policy_of
from reference_node.tee import boot as node
from reference_node.tee.event_log import as_text

RTMR0 = (
    "TD hand-off block",
    "firmware configuration volume",
    *(f"variable {name}" for name in ("SecureBoot", "PK", "KEK", "db", "dbx")),
    "separator",
    "ACPI loader",
    "ACPI RSDP",
    "ACPI tables",
    "variable BootOrder",
    "variable Boot0000",
)
BOOT = read_event_log(as_text(node.boot_events()))


def names(events: tuple[Event, ...], register: int) -> tuple[str, ...]:
    return tuple(event.name for event in boot_events(events) if event.register == register)


def test_events_of_a_boot_have_names() -> None:
    assert names(BOOT, 0) == RTMR0
    assert names(BOOT, 1)[:3] == ("kernel", "Calling EFI Application from Boot Option", "separator")
    assert names(BOOT, 2) == ("kernel command line", "initrd")


def test_events_without_payloads_are_named_by_type_and_order() -> None:
    stripped = tuple(replace(event, payload=b"") for event in BOOT)
    assert names(stripped, 2) == ("kernel command line", "initrd")
    assert names(stripped, 0) == tuple(name.partition(" ")[0] if "variable" in name else name for name in RTMR0)


@pytest.mark.parametrize("payload", [b"\xff" * 40, b"\0", bytes(16) + b"\xff" * 8 + b"\0\xd8" * 20, b"\x1b[2J" * 99])
def test_hostile_payloads_give_names_of_bounded_length(payload: bytes) -> None:
    for kind in (0x80000001, 0x80000007, 6, 10, 0x80000003, 0xFFFFFFFF):
        event = Event(0, 0, kind, bytes(48), "", payload, version_1=True)
        assert all(len(name) < 80 for name in names((event,) * 5, 0))


REGISTER_AND_EVENT = {
    "another TD hand-off block": ("RTMR0", "TD hand-off block"),
    "Secure Boot with another setting": ("RTMR0", "variable SecureBoot"),
    "other ACPI tables": ("RTMR0", "ACPI tables"),
    "another boot option": ("RTMR0", "variable Boot0000"),
    "another kernel": ("RTMR1", "kernel"),
    "another command line": ("RTMR2", "kernel command line"),
    "another initrd": ("RTMR2", "initrd"),
    "an event more in RTMR2": ("RTMR2", "initrd, is one too many"),
    "the last event of RTMR2 is missing": ("RTMR2", "its event 2 is missing"),
    "initrd and command line measured in the other order": ("RTMR2", "its event 1, initrd"),
}


@pytest.fixture(scope="module")
def vectors() -> dict[str, Vector]:
    return {vector.comment: vector for vector in shipped() if vector.file == "boot.json"}


def refusals(vector: Vector, *measurements: Measurements) -> list[str]:
    """What the rule finds in a vector by its own measurements, or by others."""
    policy = Policy(root=vector.root.encode(), measurements=measurements or known(vector))
    findings = verify(Evidence(vector.files), policy).findings
    return [finding.compared for finding in findings if finding.rule is Rule.BOOT_MEASUREMENTS]


def known(vector: Vector) -> tuple[Measurements, ...]:
    return policy_of(vector.policy).policy.measurements


@pytest.mark.parametrize("comment", REGISTER_AND_EVENT)
def test_refusal_names_register_and_event(comment: str, vectors: dict[str, Vector]) -> None:
    register, event = REGISTER_AND_EVENT[comment]
    (refusal,) = refusals(vectors[f"{comment}, whose events are known"])
    assert refusal.startswith(f"{register} is ")
    assert event in refusal


def test_refusal_without_known_events_names_those_of_the_register(vectors: dict[str, Vector]) -> None:
    (refusal,) = refusals(vectors["another kernel"])
    assert "one of these events differs: kernel, Calling EFI Application" in refusal


def test_events_that_another_set_knows_are_not_suspected(vectors: dict[str, Vector]) -> None:
    vector = vectors["another kernel, whose events are known"]
    (whole,) = known(vector)
    plain = replace(whole, name="plain", events=((), (), ()))
    far = replace(whole, name="far", mrtd=bytes(48), rtmr0=bytes(48))
    (refusal,) = refusals(vector, far, plain)
    assert refusal.endswith("one of these events differs: kernel")


def test_several_registers_are_all_named(vectors: dict[str, Vector]) -> None:
    none = Measurements("none", "", bytes(48), bytes(48), bytes(48), bytes(48))
    found = refusals(vectors["the boot is that of the measurements"], none)
    assert [refusal[:5] for refusal in found] == ["MRTD ", "RTMR0", "RTMR1", "RTMR2"]


def test_rule_without_measurements_refuses() -> None:
    vector = next(vector for vector in shipped() if vector.id == "event_log/1")
    alone = verify(Evidence(vector.files), Policy(root=vector.root.encode()), [Rule.BOOT_MEASUREMENTS])
    assert not alone.accepted
