"""What compiling a case learns about it: what it needs of a profile, and which of its steps may be controls."""

from __future__ import annotations

from dataclasses import dataclass, field

from pydantic import JsonValue


@dataclass
class CaseInfo:
    """Collected while the steps of one case are compiled, in their order."""

    needs: set[str] = field(default_factory=set)
    """Capabilities."""
    uses: set[str] = field(default_factory=set)
    """Profile keys that must not be null."""
    stated: list[tuple[str, list[JsonValue]]] = field(default_factory=list)
    """Profile keys that must have one of some values."""
    drawn: bool = False
    """Whether it plays sequences drawn at random, which takes long."""
    operations: set[str] = field(default_factory=set)
    accounts: list[str] = field(default_factory=list)
    """The accounts that the steps so far have made; the first is who acts by default."""
    wallets: list[str] = field(default_factory=list)
    """The wallets of the suite's own that the steps so far have made."""
    cells: list[str] = field(default_factory=list)
    """The ids of the cells that a matrix has; none where the case is no matrix."""
    silence_is_not_offered: bool = False
    """Whether a profile that leaves out what the case turns out to need while it runs rules it out."""
    alone: bool = False
    """Whether no other case may run meanwhile."""
    step_ids: set[str] = field(default_factory=set)
    requirements: tuple[str, ...] = ()
    """What its steps may judge; nothing where whoever runs them says what a departure means."""
    judged: set[str] = field(default_factory=set)
    """What the steps so far judge."""
    controls: dict[str, str] = field(default_factory=dict)
    """Id of each earlier step that must be accepted, to its operation."""
