"""Frames between the node and a run's process: four bytes of length, one of kind, then UTF-8 text."""

from __future__ import annotations

import struct
from enum import IntEnum

HEADER = struct.Struct(">IB")

PROCESS = struct.Struct(">I")
"""The first message of a process: its id, sent with a handle to it."""


class Kind(IntEnum):
    """The kind of a frame."""

    PARAMETERS = 1  # to the run: JSON text
    CODE = 2
    ANSWER = 3  # to a host call: {"id", "value"} or {"id", "error"}
    BEGUN = 4  # from the run: locked down, code received, nothing evaluated yet
    LOG = 5  # JSON text of one line
    CALL = 6  # [id, name, argument]
    RESPONSE = 7  # JSON text
    ERROR = 8  # JSON text of a message


def frame(kind: Kind, text: bytes) -> bytes:
    """One frame."""
    return HEADER.pack(len(text), kind) + text
