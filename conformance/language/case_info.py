"""What is known of a case after it is compiled: what it needs of a profile, and which steps may be controls."""

from __future__ import annotations

from dataclasses import dataclass, field

from pydantic import JsonValue


@dataclass
class CaseInfo:
    """Collected while the steps of one case are compiled, in their order."""

    needs: set[str] = field(default_factory=set)
    """Capabilities that the profile has to claim."""
    uses: set[str] = field(default_factory=set)
    """Profile keys that must not be null."""
    stated: list[tuple[str, list[JsonValue]]] = field(default_factory=list)
    """Profile keys, each with the values of which the profile has to state one."""
    drawn: bool = False
    """Whether the case plays random sequences, which takes long."""
    operations: set[str] = field(default_factory=set)
    accounts: list[str] = field(default_factory=list)
    """The names of the accounts that the steps so far make. The first one acts by default."""
    cells: list[str] = field(default_factory=list)
    """The ids of the matrix's cells; empty where the case is no matrix."""
    silence_is_not_offered: bool = False
    """Whether a profile key that the case reads while it runs, and the profile leaves out, makes it not offered."""
    alone: bool = False
    """Whether other cases of the same time would notice what it does: it moves the clock, for example."""
    counts_time: bool = False
    """Whether time that passes before it is alone would count: it signs for a time to which it then moves the clock."""
    step_ids: set[str] = field(default_factory=set)
    requirements: tuple[str, ...] = ()
    """The requirements that its steps may judge; empty where the driver decides what a departure means."""
    judged: set[str] = field(default_factory=set)
    """The requirements that the steps so far judge."""
    controls: dict[str, str] = field(default_factory=dict)
    """The operation of each earlier step that must be accepted, by the step's id."""

    @property
    def relied_on(self) -> set[str]:
        """The profile keys that the case declares to need."""
        return {*self.uses, *(key for key, _ in self.stated)}
