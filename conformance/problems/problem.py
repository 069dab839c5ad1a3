"""The base of all problems, and those of a command or of a case's code."""

from __future__ import annotations

from typing import ClassVar


class Problem(Exception):  # noqa: N818 - a failing node is no error of the suite
    """Any problem of a run. Its text says what happened; `cause` and `hint` belong to the class."""

    code: ClassVar[str] = "problem"
    cause: ClassVar[str] = "something went wrong"
    hint: ClassVar[str] = ""


class UnprovenRefusal(Problem):
    """A case judges a refusal without what would prove it: an error of the case, not of the node."""

    code = "unproven-refusal"
    cause = "a refusal proves nothing alone"
    hint = "give as `control` an accepted call of the same operation, and reads as `unchanged`"


class UnjudgedRequirement(Problem):
    """A case does not say which of its parts is about a requirement: an error of the case, not of the node."""

    code = "unjudged-requirement"
    cause = "a part of a case has to say which requirements it is about"
    hint = 'compare what a requirement says inside `with judge("ID"):`'


class NothingSelected(Problem):
    """No case matches what was asked for: never a success."""

    code = "nothing-selected"
    cause = "no case was selected"
    hint = "`service-conformance packs` and `service-conformance requirements` show what there is"


class NodeNotStarted(Problem):
    """The bundled node did not come up."""

    code = "node-not-started"
    cause = "the bundled node did not start"
    hint = "start it by hand with `reference-node serve` to see why, or name a node with --node-url"


class NodeNotInstalled(Problem):
    """The suite is installed without the reference node."""

    code = "node-not-installed"
    cause = "the reference node is not installed"
