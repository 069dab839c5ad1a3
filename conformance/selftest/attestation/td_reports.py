"""Vectors of the TD report: debug TDs, attributes, the TDX module, service TDs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from conformance.selftest.attestation.forms import Group, Test, accepted, refused
from conformance.selftest.attestation.sound_quote import SoundQuote
from reference_node.tee.quotes import TD_DEBUG, TdReport15

SEPT_VE_DISABLE = 28
PERFMON = 63
PROTECTION_KEYS = 30


def groups(seed: bytes) -> list[Group]:
    """The groups of the TD report."""
    sound = SoundQuote(seed)
    newer = replace(sound, version=5, report=TdReport15())
    return [
        sound.group("td-report", "What the TD report says about the TD and the TDX module", list(_report(sound))),
        newer.group("td-report-1.5", "What only a TDX 1.5 report says", list(_newer(newer))),
    ]


def _attributes(*bits: int) -> bytes:
    return sum(1 << bit for bit in bits).to_bytes(8, "little")


def _report(sound: SoundQuote) -> Iterator[Test]:
    yield refused("td-debug", "a debug TD", sound.with_report(td_attributes=TD_DEBUG), "Debug")
    for bit in (4, 5, 6):
        attributes = sound.with_report(td_attributes=_attributes(bit, SEPT_VE_DISABLE))
        yield refused("td-debug", f"bit {bit} of the TD attributes: the host may profile the TD", attributes, "Debug")
    for bit in (1, 3, 7, 8, 15, 23, 26, 32, 61):
        attributes = sound.with_report(td_attributes=_attributes(bit, SEPT_VE_DISABLE))
        yield refused("td-attributes", f"reserved bit {bit} of the TD attributes", attributes, "Reserved")
    without = sound.with_report(td_attributes=bytes(8))
    yield refused("td-attributes", "SEPT_VE_DISABLE is off: the host can inject exceptions", without, "TdAttributes")
    migratable = sound.with_report(td_attributes=_attributes(SEPT_VE_DISABLE, 29))
    yield refused("td-attributes", "a migratable TD: it can continue on another machine", migratable, "TdAttributes")
    for what, bit in {"performance monitoring": PERFMON, "supervisor protection keys": PROTECTION_KEYS}.items():
        attributes = sound.with_report(td_attributes=_attributes(SEPT_VE_DISABLE, bit))
        yield accepted(f"a TD with {what}", attributes, "Variant")
    for comment, changes in {
        "a TDX module of a signer other than Intel": {"mr_signer_seam": bytes(47) + b"\x01"},
        "a TDX module with attributes": {"seam_attributes": b"\x01" + bytes(7)},
        "a debug TDX module": {"seam_attributes": bytes(7) + b"\x80"},
    }.items():
        yield refused("tdx-module", comment, sound.with_report(**changes), "TdxModule")
    for name in ("mr_config_id", "mr_owner", "mr_owner_config", "report_data"):
        size = len(getattr(sound.report, name))
        changed = sound.with_report(**{name: bytes(range(size))})
        yield accepted(f"{name.upper()} is not zero: a quote alone says nothing against it", changed, "Variant")


def _newer(sound: SoundQuote) -> Iterator[Test]:
    bound = sound.with_report(mr_service_td=bytes(47) + b"\x01")
    yield refused("td-attributes", "a service TD is bound: it can migrate the TD", bound, "TdAttributes")
    yield refused("td-debug", "a debug TD", sound.with_report(td_attributes=TD_DEBUG), "Debug")
    older = sound.with_report(tee_tcb_svn=bytes.fromhex("03010200000000000000000000000000"))
    comment = "started under a module that is out of date, which was updated since: relaunch is advised"
    yield refused("tcb-status", comment, older, "TcbStatus")
