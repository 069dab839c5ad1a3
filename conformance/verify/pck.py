"""The PCK certificate's SGX extension (Intel SGX PCK Certificate and CRL Profile Specification, section 1.3.5)."""

from __future__ import annotations

from dataclasses import dataclass

SGX = "1.2.840.113741.1.13.1"
_SEQUENCE, _OCTETS, _INTEGER, _ENUMERATED, _OID = 0x30, 0x04, 0x02, 0x0A, 0x06


@dataclass(frozen=True)
class PckExtension:
    """What the PCK certificate says of its platform."""

    ppid: bytes
    components: bytes
    """SVNs of the 16 TCB components."""
    pcesvn: int
    cpusvn: bytes
    pceid: bytes
    fmspc: bytes


def _length(data: bytes, position: int) -> tuple[int, int]:
    """Length of a DER value and where it begins."""
    if position >= len(data):
        raise ValueError("DER ends before a length")
    first = data[position]
    if first < 0x80:
        return first, position + 1
    size = first & 0x7F
    end = position + 1 + size
    length = int.from_bytes(data[position + 1 : end], "big")
    if not 1 <= size <= 3 or end > len(data) or length < 0x80 or data[position + 1] == 0:
        raise ValueError("a length that is not the shortest in DER")
    return length, end


def _values(data: bytes) -> list[tuple[int, bytes]]:
    """Tags and contents of the DER values that stand in a row."""
    values: list[tuple[int, bytes]] = []
    position = 0
    while position < len(data):
        length, begin = _length(data, position + 1)
        if begin + length > len(data):
            raise ValueError("a DER value ends after its container")
        values.append((data[position], data[begin : begin + length]))
        position = begin + length
    return values


def _arc(data: bytes) -> str:
    """The dotted text of an object identifier's content."""
    numbers: list[int] = []
    value = 0
    for byte in data:
        value = value << 7 | byte & 0x7F
        if not byte & 0x80:
            numbers.append(value)
            value = 0
    if not numbers or data[-1] & 0x80:
        raise ValueError("an object identifier that does not end")
    first = min(numbers[0] // 40, 2)
    return ".".join(map(str, [first, numbers[0] - 40 * first, *numbers[1:]]))


def _members(data: bytes) -> dict[str, tuple[int, bytes]]:
    """A sequence of pairs of object identifier and value; each identifier once."""
    members: dict[str, tuple[int, bytes]] = {}
    for tag, content in _values(data):
        pair = _values(content) if tag == _SEQUENCE else []
        if len(pair) != 2 or pair[0][0] != _OID:
            raise ValueError("an entry that is no pair of object identifier and value")
        name = _arc(pair[0][1])
        if name in members:
            raise ValueError(f"{name} stands twice")
        members[name] = pair[1]
    return members


def _octets(members: dict[str, tuple[int, bytes]], name: str, size: int) -> bytes:
    tag, content = members.get(name, (0, b""))
    if tag != _OCTETS or len(content) != size:
        raise ValueError(f"{name} is absent or no OCTET STRING of {size} bytes")
    return content


def _number(members: dict[str, tuple[int, bytes]], name: str, limit: int) -> int:
    tag, content = members.get(name, (0, b""))
    value = int.from_bytes(content, "big", signed=True)
    shortest = value.bit_length() // 8 + 1
    if tag != _INTEGER or len(content) != shortest or not 0 <= value <= limit:
        raise ValueError(f"{name} is absent or no INTEGER from 0 to {limit}")
    return value


def parse_extension(raw: bytes) -> PckExtension:
    """Read the extension's value. ValueError: it is not in its form."""
    top = _values(raw)
    if len(top) != 1 or top[0][0] != _SEQUENCE:
        raise ValueError("the extension is no sequence")
    members = _members(top[0][1])
    tag, content = members.get(f"{SGX}.2", (0, b""))
    if tag != _SEQUENCE:
        raise ValueError("the TCB is absent")
    tcb = _members(content)
    if members.get(f"{SGX}.5", (0, b""))[0] != _ENUMERATED:
        raise ValueError("the SGX type is absent")
    return PckExtension(
        ppid=_octets(members, f"{SGX}.1", 16),
        components=bytes(_number(tcb, f"{SGX}.2.{index}", 255) for index in range(1, 17)),
        pcesvn=_number(tcb, f"{SGX}.2.17", 0xFFFF),
        cpusvn=_octets(tcb, f"{SGX}.2.18", 16),
        pceid=_octets(members, f"{SGX}.3", 2),
        fmspc=_octets(members, f"{SGX}.4", 6),
    )
