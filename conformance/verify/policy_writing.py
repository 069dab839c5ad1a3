"""Writes a policy that accepts what evidence shows, with comments for the person who has to compare each value."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from conformance.verify.compose import ComposeFault, pinned_images
from conformance.verify.evidence import Evidence
from conformance.verify.faults import Fault
from conformance.verify.fetching import Sources
from conformance.verify.pccs import INTEL_PCS
from conformance.verify.policy import BOOT_REGISTERS, KeylessSigner, MeasuredEvent, Policy
from conformance.verify.policy_file import DAY
from conformance.verify.reading import Reading
from conformance.verify.results import Verified
from conformance.verify.strict import json_object, pem_of, when

HEAD = """\
# A policy for `service-conformance verify --policy`, written from what {what} showed on {time}.
# The service itself said all of this. Compare each value with a source that you trust before you rely on it:
# docs/verify.md, "Write a policy", says which.
"""


def policy_text(what: str, evidence: Evidence, verified: Verified, policy: Policy, sources: Sources) -> str:
    """The text of a policy file. `verified` is the verdict on the evidence under `policy`, and accepts it."""
    reading = Reading(evidence, policy)
    lines = [HEAD.format(what=json.dumps(what)[1:-1], time=when(reading.at)), *_trust(reading, sources)]
    lines += [*_boot(verified), *_app(reading, verified), *_names(reading, sources), *_statement(policy)]
    return "\n".join(lines) + "\n"


def _trust(reading: Reading, sources: Sources) -> Iterator[str]:
    policy = reading.policy
    yield "# Who vouches for the hardware: Intel's root certificate, or this one."
    if policy.root is None:
        yield "root: intel"
    else:
        yield "root: |"
        yield from (f"  {line}" for line in pem_of((reading.root.der,)).splitlines())
    yield "\n# Where the vendor's statements about platforms come from (null: Intel's service). They end after 30"
    yield "# days; max_age_days demands newer ones."
    yield "collateral:"
    yield f"  pccs: {_quoted(None if sources.collateral or sources.pccs == INTEL_PCS else sources.pccs)}"
    yield "\n# Statuses of the platform's firmware and microcode. Anything but UpToDate has known weaknesses."
    yield "tcb:"
    yield f"  accept: [{', '.join(sorted(policy.accepted_statuses))}]"
    if policy.allow_debug or policy.allow_ve_injection:
        yield "\n# DANGER: such a machine protects less than a production one."
        yield "td:"
        yield f"  allow_debug: {_quoted(policy.allow_debug)}"
        yield f"  allow_ve_injection: {_quoted(policy.allow_ve_injection)}"


def _boot(verified: Verified) -> Iterator[str]:
    yield "\n# Firmware, kernel, command line, initrd. Compare with `dstack-mr measure --json` for the published image"
    yield "# and a machine of as many processors, as much memory and the same devices: RTMR0 depends on them."
    yield "boot:"
    yield "  measurements:"
    yield "    - name: as observed"
    yield "      source: the service itself, compared with nothing"
    for register in BOOT_REGISTERS:
        yield f"      {register}: {_quoted(verified.identity[register])}"
    yield "      events:"
    for number in range(3):
        events = [event for event in verified.boot if event.register == number]
        yield f"        rtmr{number}:{'' if events else ' []'}"
        yield from (f"          - {_quoted(event.digest.hex())}  # {_comment(event)}" for event in events)


def _comment(event: MeasuredEvent) -> str:
    return "".join(character if character.isprintable() else "?" for character in event.name)


def _app(reading: Reading, verified: Verified) -> Iterator[str]:
    identity: Mapping[str, str] = verified.identity
    yield "\n# Who and what runs. Without a line, whatever the service measures is accepted."
    yield "app:"
    yield "  # The authorisation contract's address, as the operator publishes it."
    yield f"  id: {_quoted(identity['app_id'])}"
    yield "  # One machine. Remove this line if others of the same app may answer, too."
    if identity.get("instance_id"):
        yield f"  instance_id: {_quoted(identity['instance_id'])}"
    yield "  # SHA-256 of app_compose. Read that text in /info: scripts in it run as well."
    yield "  compose_hash:"
    yield f"    - {_quoted(identity['compose_hash'])}"
    yield "  # The images of its compose file. Find out what is in each."
    yield "  image_digests:"
    yield from (f"    - {_quoted(digest)}  # {name}" for name, digest in _images(reading))
    if "os_image_hash" in identity:
        yield "  # The operating system's image, as its release names it."
        yield f"  os_image_hash: [{_quoted(identity['os_image_hash'])}]"
    provider = _provider(reading)
    if provider:
        yield "  # Who can derive the app's keys. `id` is the public key of the key-management service."
        yield "  key_provider:"
        yield from (f"    {name}: {_quoted(value)}" for name, value in provider.items())


def _images(reading: Reading) -> dict[tuple[str, str], None]:
    try:
        images = pinned_images(reading.app_compose.docker_compose_file)
    except ComposeFault as fault:
        raise Fault(fault.code, fault.text, "docker_compose_file") from fault
    return dict.fromkeys((image.name.partition("@")[0], image.name.rpartition("@")[2]) for image in images)


def _provider(reading: Reading) -> dict[str, str]:
    try:
        measured = json_object(reading.measured_once("key-provider") or b"")
    except ValueError:
        return {}
    return {name: value for name in ("name", "id") if isinstance(value := measured.get(name), str) and value}


def _names(reading: Reading, sources: Sources) -> Iterator[str]:
    yield "\n# The chain on which the authorisation contract is asked. Name a JSON-RPC that you trust."
    yield "contract:"
    yield f"  rpc_url: {_quoted(sources.rpc_url)}"
    yield "\n# The account that may get certificates for the gateway domain, and the resolver that is asked."
    yield "caa:"
    yield f"  accounts: [{_quoted(reading.acme_account)}]"
    if sources.resolver is not None:
        yield f"  resolver: {_quoted(sources.resolver)}"
    if reading.policy.allow_other_accounts:
        yield "  allow_other_accounts: true"


def _statement(policy: Policy) -> Iterator[str]:
    if policy.statement is None:
        return
    yield "\n# Whose word counts that this very code was judged by the conformance suite."
    yield "statement:"
    yield "  signers:"
    for signer in policy.statement.signers:
        if isinstance(signer, KeylessSigner):
            yield f"    - identity: {_quoted(signer.identity)}"
            yield f"      issuer: {_quoted(signer.issuer)}"
        else:
            yield "    - key: |"
            yield from (f"        {line}" for line in signer.key.decode().splitlines())
        if signer.name:
            yield f"      name: {_quoted(signer.name)}"
    yield f"  accept: [{', '.join(sorted(policy.statement.results))}]"
    if policy.statement.most_age is not None:
        yield f"  max_age_days: {policy.statement.most_age // DAY}"
    if policy.statement.trusted_root is not None:
        yield f"  trusted_root: {_quoted(policy.statement.trusted_root.decode().strip())}"


def _quoted(value: object) -> str:
    """A value as JSON, which YAML reads as the same."""
    return json.dumps(value)
