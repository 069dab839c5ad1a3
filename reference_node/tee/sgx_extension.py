"""The SGX extension of a PCK certificate, which names the platform and its trusted computing base.

Intel, "SGX PCK Certificate and Certificate Revocation List Profile Specification", section "SGX extensions".
"""

from __future__ import annotations

from dataclasses import dataclass

SGX_EXTENSION_OID = "1.2.840.113741.1.13.1"

_BOOLEAN, _INTEGER, _OCTET_STRING, _OBJECT_IDENTIFIER, _ENUMERATED, _SEQUENCE = 0x01, 0x02, 0x04, 0x06, 0x0A, 0x30


@dataclass(frozen=True)
class PlatformTcb:
    """What the PCK certificate says about the machine.

    The FMSPC has decimal digits alone, so that verifiers that compare its hex case-sensitively find it equal as well.
    """

    fmspc: bytes = bytes.fromhex("908060000000")
    """Family, model, stepping, platform and custom SKU: 6 bytes."""
    pceid: bytes = bytes(2)
    components: tuple[int, ...] = (3, 3, 2, 2, 4, 1, 0, 5, *(0,) * 8)
    """Security versions of the 16 SGX TCB components."""
    pcesvn: int = 11
    cpusvn: bytes | None = None
    """16 bytes; `None`: the components, as real certificates of scalable platforms have it."""
    ppid: bytes | None = None
    """16 bytes; `None`: derived from the platform's seed."""
    sgx_type: int = 1
    """0 standard, 1 scalable, 2 scalable with integrity."""
    dynamic_platform: bool = True
    cached_keys: bool = False
    smt_enabled: bool = True


def sgx_extension(tcb: PlatformTcb, ppid: bytes, platform_instance_id: bytes) -> bytes:
    """DER of the extension's value; the last two members only where a platform CA signs (`sgx_type` over 0)."""
    components = [_member(f"2.{number}", _integer(version)) for number, version in enumerate(tcb.components, start=1)]
    cpusvn = bytes(tcb.components) if tcb.cpusvn is None else tcb.cpusvn
    members = [
        _member("1", _tlv(_OCTET_STRING, ppid)),
        _member(
            "2",
            _sequence(
                *components,
                _member("2.17", _integer(tcb.pcesvn)),
                _member("2.18", _tlv(_OCTET_STRING, cpusvn)),
            ),
        ),
        _member("3", _tlv(_OCTET_STRING, tcb.pceid)),
        _member("4", _tlv(_OCTET_STRING, tcb.fmspc)),
        _member("5", _tlv(_ENUMERATED, bytes([tcb.sgx_type]))),
    ]
    if tcb.sgx_type:
        flags = (tcb.dynamic_platform, tcb.cached_keys, tcb.smt_enabled)
        configuration = [_member(f"7.{number}", _boolean(flag)) for number, flag in enumerate(flags, start=1)]
        members.append(_member("6", _tlv(_OCTET_STRING, platform_instance_id)))
        members.append(_member("7", _sequence(*configuration)))
    return _sequence(*members)


def _member(suffix: str, value: bytes) -> bytes:
    return _sequence(_object_identifier(f"{SGX_EXTENSION_OID}.{suffix}"), value)


def _sequence(*values: bytes) -> bytes:
    return _tlv(_SEQUENCE, b"".join(values))


def _integer(value: int) -> bytes:
    return _tlv(_INTEGER, value.to_bytes(value.bit_length() // 8 + 1, signed=True))


def _boolean(value: bool) -> bytes:
    return _tlv(_BOOLEAN, b"\xff" if value else b"\x00")


def _object_identifier(dotted: str) -> bytes:
    first, second, *rest = map(int, dotted.split("."))
    return _tlv(_OBJECT_IDENTIFIER, bytes([first * 40 + second]) + b"".join(map(_base_128, rest)))


def _base_128(arc: int) -> bytes:
    digits = [arc & 0x7F]
    while arc := arc >> 7:
        digits.append(0x80 | arc & 0x7F)
    return bytes(reversed(digits))


def _tlv(tag: int, value: bytes) -> bytes:
    size = len(value)
    if size < 0x80:
        return bytes([tag, size]) + value
    length = size.to_bytes((size.bit_length() + 7) // 8)
    return bytes([tag, 0x80 | len(length)]) + length + value
