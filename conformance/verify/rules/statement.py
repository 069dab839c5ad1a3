"""What a statement of a verdict says: whether the code that answers is the code that was judged, by whom and when."""

from __future__ import annotations

from conformance.verify.compose import ComposeFault, pinned_images
from conformance.verify.documents import read_chain_config
from conformance.verify.evidence import CHAIN_CONFIG, INFO
from conformance.verify.faults import Fault
from conformance.verify.policy import BOOT_REGISTERS
from conformance.verify.reading import Reading
from conformance.verify.statement import JudgedCode, System


def code_of(reading: Reading) -> JudgedCode:
    """The code that evidence shows. Fault: it does not name all of it."""
    identity, report = reading.identity, reading.quote.report
    registers = dict(zip(BOOT_REGISTERS, (report.mr_td, *report.registers[:3]), strict=True))
    try:
        images = pinned_images(reading.app_compose.docker_compose_file)
    except ComposeFault as fault:
        raise Fault(fault.code, fault.text, f"{INFO}: docker_compose_file") from fault
    body = reading.body(CHAIN_CONFIG, "contract-unknown")
    try:
        contract = read_chain_config(body)
    except ValueError as problem:
        raise Fault("contract-unknown", str(problem), CHAIN_CONFIG) from problem
    return JudgedCode(
        compose_hash=identity.compose_hash.hex(),
        images=frozenset(image.name for image in images),
        contract=contract,
        system=System(app_id=identity.app_id.hex(), **{name: value.hex() for name, value in registers.items()}),
    )
