"""How the suite restarts the node."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from conformance.profile.section import Section

Command = Annotated[
    tuple[Annotated[str, Field(pattern=r"^[^\x00]*$")], ...], Field(min_length=1, description="program and arguments")
]


class Restart(Section):
    """How the suite restarts the node. The suite's process runs these commands, on this machine, without a shell."""

    command: Command | None = None
    """Stops the node in order and starts it again: the program and its arguments, run in the profile's folder. It ends
    once the old process is gone. Needed by the capability `restart`."""
    kill_command: Command | None = None
    """Kills the node as SIGKILL does and starts it again. Null: every restart is by `command`."""
    within_seconds: Annotated[float, Field(gt=0, le=600)] = 30
    """How long it may take from the beginning of the command to the node's first answer."""
