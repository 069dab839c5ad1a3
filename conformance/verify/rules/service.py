"""What runs: compose hash, pinned images, authorisation on-chain, the compose file that a caller expects."""

from __future__ import annotations

from hashlib import sha256

from conformance.verify.compose import ComposeFault, pinned_images
from conformance.verify.evidence import INFO, OBSERVED
from conformance.verify.faults import Fault
from conformance.verify.judging import Notes
from conformance.verify.reading import Reading


def compose_hash(reading: Reading, _: Notes) -> str:
    """Rule 1 (ATT-150): over the text exactly as decoded, never over a serialisation of what it holds."""
    info = reading.info
    actual = _digest(info.app_compose)
    if actual != info.compose_hash:
        got = f"SHA-256 of app_compose is {actual.hex()}, compose_hash is {info.compose_hash.hex()}"
        raise Fault("compose-hash-differs", got, INFO)
    return f"SHA-256 of app_compose = compose_hash {actual.hex()}"


def _digest(text: str) -> bytes:
    return sha256(text.encode()).digest()


def check_measured(measured: bytes, reading: Reading, notes: Notes, where: str) -> None:
    """Raise Fault if a log measured another compose hash than /info shows; /info is at fault if the log is right."""
    info = reading.info
    if measured != info.compose_hash:
        if measured == _digest(info.app_compose):
            compose_hash(reading, notes)
        got = f"measured {measured.hex()}, /info says {info.compose_hash.hex()}"
        raise Fault("measured-compose-hash-differs", got, where)


def image_pins(reading: Reading, notes: Notes) -> str:
    """Rule 2 (ATT-160)."""
    app_compose = reading.app_compose
    where = f"{INFO}: docker_compose_file"
    try:
        images = pinned_images(app_compose.docker_compose_file)
    except ComposeFault as fault:
        raise Fault(fault.code, fault.text, f"{where}, line {fault.line}" if fault.line else where) from fault
    runner = app_compose.members.get("runner", "docker-compose")
    if runner != "docker-compose":
        raise Fault(
            "runner-unsupported", f"the runner is {runner!r}: the compose file is not what runs", f"{INFO}: runner"
        )
    for name in ("pre_launch_script", "init_script", "bash_script"):
        if app_compose.members.get(name):
            notes.add("script-beside-compose", f"{name} runs beside the compose file; read it too", f"{INFO}: {name}")
    return f"{len(images)} images, each @sha256: and 64 hex digits"


def authorisation(reading: Reading, notes: Notes) -> str:
    """Rule 8 (ATT-250, ATT-260)."""
    observed = reading.observed
    allowed = observed.allowed_compose_hash if observed else None
    if allowed is None:
        notes.add("authorisation-not-offered", "nobody asked the contract: no JSON-RPC was named", OBSERVED)
        return ""
    info = reading.info
    if len(info.app_id) != 20:
        raise Fault(
            "app-id-no-address", f"app_id has {len(info.app_id)} bytes, where an address has 20", f"{INFO}: app_id"
        )
    call = f"allowedComposeHashes({info.compose_hash.hex()}) of the contract {info.app_id.hex()}"
    if not allowed:
        compose_hash(reading, notes)  # nobody registers a hash of another text than that which runs
        raise Fault(
            "compose-hash-not-allowed",
            f"{call} is false, or true of hashes that differ from it in a byte, too",
            OBSERVED,
        )
    return f"{call} = true"


def expected_compose(reading: Reading, _: Notes) -> str:
    """The caller's own expectation: a compose file, or a whole app_compose text, byte for byte."""
    expected = reading.policy.expected_compose or b""
    if expected == reading.info.app_compose.encode():
        return "app_compose = the file that the caller named"
    served = reading.app_compose.docker_compose_file.encode()
    if expected != served:
        at = next(
            (i for i, (a, b) in enumerate(zip(expected, served, strict=False)) if a != b),
            min(len(expected), len(served)),
        )
        got = f"{len(served)} bytes are served, {len(expected)} expected; they differ from byte {at}"
        raise Fault("compose-unexpected", got, f"{INFO}: docker_compose_file")
    return f"docker_compose_file = the file that the caller named, {len(expected)} bytes"
