"""What firmware, boot loader and kernel measure before the guest runs, in the forms in which OVMF writes them.

Types and payloads follow the TCG PC Client Platform Firmware Profile and UEFI's CC measurement protocol; their order is
that of a guest which QEMU boots from a kernel file. What is measured is simulated.
"""

from __future__ import annotations

import hashlib
import struct
from uuid import UUID

from reference_node.tee.event_log import Event

SEPARATOR = 0x00000004
EVENT_TAG = 0x00000006
PLATFORM_CONFIG = 0x0000000A
VARIABLE_DRIVER_CONFIG = 0x80000001
VARIABLE_BOOT = 0x80000002
BOOT_APPLICATION = 0x80000003
ACTION = 0x80000007
FIRMWARE_BLOB = 0x8000000A
HANDOFF_TABLES = 0x8000000B

PROCESSORS = 2
MEMORY = 4 * 2**30

COMMAND_LINE = "console=ttyS0 panic=1 dstack.simulated=1 initrd=initrd"
_GLOBAL = UUID("8be4df61-93ca-11d2-aa0d-00e098032b8c")
_SECURITY = UUID("d719b2cb-3d3a-4596-a3bc-dad00e67656f")
"""GUIDs of UEFI's global variables and of the image security database."""
_KEYS = {"SecureBoot": _GLOBAL, "PK": _GLOBAL, "KEK": _GLOBAL, "db": _SECURITY, "dbx": _SECURITY}
_HOB = UUID("93bb96af-b9f2-4eb8-9462-e0ba74564236")
_FIRMWARE_FILES = UUID("7cb8bdc9-f8eb-4f34-aaea-3ee4af6516a1")
_SETUP = UUID("462caa21-7614-4503-836e-8ab6f4662331")
_KERNEL_FILES = UUID("1428f772-b64a-441e-b8c3-9ebdd7f893c7")
_END_OF_PATH = bytes.fromhex("7fff0400")
_ACTIVE_APPLICATION = 0x109
"""Attributes of a load option."""
_TAGS = {"LOADED_IMAGE::LoadOptions": 0x8F3B22ED, "Linux initrd": 0x8F3B22EC}


def boot_events(*, processors: int = PROCESSORS, memory: int = MEMORY, kernel: str = "kernel") -> list[Event]:
    """The boot of the simulated image on a machine with this memory in bytes; `kernel` is the kernel's content."""
    setup = _path(_FIRMWARE_FILES, 7) + _path(_SETUP, 6) + _END_OF_PATH
    option = struct.pack("<IH", _ACTIVE_APPLICATION, len(setup)) + _utf16("UiApp") + setup
    return [
        _content(0, HANDOFF_TABLES, _tables("TdxTable", _HOB, 0x809000), f"hand-off block of {memory} bytes"),
        _content(0, FIRMWARE_BLOB, _blob(f"Fv({'X' * 8}-XXXX-XXXX-XXXX-{'X' * 12})", 0xFFC00000, 0x84000), "volume"),
        *(_data(0, VARIABLE_DRIVER_CONFIG, _variable(guid, name)) for name, guid in _KEYS.items()),
        _data(0, SEPARATOR, bytes(4)),
        *(
            _content(0, PLATFORM_CONFIG, b"ACPI DATA", f"ACPI {part} of {processors} processors, {memory} bytes")
            for part in ("loader", "root pointer", "tables")
        ),
        _content(1, BOOT_APPLICATION, _loaded("kernel"), kernel),
        _measured(0, VARIABLE_BOOT, _variable(_GLOBAL, "BootOrder", bytes(2)), bytes(2)),
        _measured(0, VARIABLE_BOOT, _variable(_GLOBAL, "Boot0000", option), option),
        _data(1, ACTION, b"Calling EFI Application from Boot Option"),
        _data(1, SEPARATOR, bytes(4)),
        _measured(2, EVENT_TAG, _tagged("LOADED_IMAGE::LoadOptions"), _utf16(COMMAND_LINE)),
        _content(2, EVENT_TAG, _tagged("Linux initrd"), "initial file system"),
        _data(1, ACTION, b"Exit Boot Services Invocation"),
        _data(1, ACTION, b"Exit Boot Services Returned with Success"),
    ]


def _measured(register: int, kind: int, payload: bytes, measured: bytes) -> Event:
    return Event(register, kind, "", payload, hashlib.sha384(measured).digest())


def _data(register: int, kind: int, payload: bytes) -> Event:
    """An event whose payload itself is measured."""
    return _measured(register, kind, payload, payload)


def _content(register: int, kind: int, payload: bytes, content: str) -> Event:
    """An event that describes something larger, which is measured."""
    return _measured(register, kind, payload, f"simulated {content}".encode())


def _utf16(text: str) -> bytes:
    return text.encode("utf-16-le") + bytes(2)


def _variable(guid: UUID, name: str, data: bytes = b"") -> bytes:
    """UEFI_VARIABLE_DATA."""
    return guid.bytes_le + struct.pack("<QQ", len(name), len(data)) + name.encode("utf-16-le") + data


def _tables(description: str, guid: UUID, address: int) -> bytes:
    """UEFI_HANDOFF_TABLE_POINTERS2 of one table."""
    text = description.encode() + b"\0"
    return bytes([len(text)]) + text + struct.pack("<Q", 1) + guid.bytes_le + struct.pack("<Q", address)


def _blob(description: str, base: int, length: int) -> bytes:
    """UEFI_PLATFORM_FIRMWARE_BLOB2."""
    return bytes([len(description)]) + description.encode() + struct.pack("<QQ", base, length)


def _path(guid: UUID, kind: int) -> bytes:
    """A node of a device path: a firmware volume (7), a file in one (6), or what a vendor defines (3)."""
    return struct.pack("<BBH", 4, kind, 20) + guid.bytes_le


def _loaded(file: str) -> bytes:
    """UEFI_IMAGE_LOAD_EVENT of a file that QEMU hands over."""
    name = _utf16(file)
    path = _path(_KERNEL_FILES, 3) + struct.pack("<BBH", 4, 4, 4 + len(name)) + name + _END_OF_PATH
    return struct.pack("<QQQQ", 0x7C4E8018, 0xB49400, 0, len(path)) + path


def _tagged(description: str) -> bytes:
    """TCG_PCClientTaggedEvent of the kernel's EFI stub."""
    text = description.encode() + b"\0"
    return struct.pack("<II", _TAGS[description], len(text)) + text
