"""Frames between the node and a run's process: four bytes of length, one of kind, then UTF-8 text."""

from __future__ import annotations

import struct
from enum import IntEnum

HEADER = struct.Struct(">IB")

PROCESS = struct.Struct(">I")
"""A process's first message, sent with a handle to it: its id."""


class Kind(IntEnum):
    """What a frame carries."""

    PARAMETERS = 1  # to the run: JSON text
    CODE = 2
    ANSWER = 3  # to a host call: {"id", "value"} or {"id", "error"}
    BEGUN = 4  # from the run: locked down and in possession of the code, nothing evaluated yet
    LOG = 5  # JSON text of one line
    CALL = 6  # [id, name, argument]
    RESPONSE = 7  # JSON text
    ERROR = 8  # JSON text of a message


def frame(kind: Kind, text: bytes) -> bytes:
    """One frame."""
    return HEADER.pack(len(text), kind) + text
