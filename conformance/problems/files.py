"""Problems of packs and other files of the suite's user: nothing runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from conformance.problems.problem import Problem


class LoadProblem(Problem):
    """A pack, or another file of the suite's user, that cannot be used."""

    code = "load"
    cause = "the file cannot be used"

    def __init__(self, message: str, path: Path, line: int = 0) -> None:
        self.path = path
        self.line = line
        super().__init__(f"{path}:{line}: {message}" if line else f"{path}: {message}")


class LoadProblems(LoadProblem):
    """Several files, or several places of a file, that cannot be used: one line for each, then their number."""

    code = "load-problems"

    def __init__(self, problems: Sequence[LoadProblem]) -> None:
        self.problems = tuple(sorted(problems, key=lambda problem: (problem.path, problem.line)))
        super().__init__("", self.problems[0].path, self.problems[0].line)
        files = len({problem.path for problem in self.problems})
        count = f"{len(self.problems)} errors in {files} {'file' if files == 1 else 'files'}"
        self.args = ("\n".join([*map(str, self.problems), count]),)


def raise_all(problems: Sequence[LoadProblem]) -> None:
    """Raise the problems, if any: a single one as it is, several as LoadProblems. Equal texts count once."""
    by_text: dict[str, LoadProblem] = {}
    for problem in problems:
        several = problem.problems if isinstance(problem, LoadProblems) else (problem,)
        by_text |= {str(single): single for single in several}
    if len(by_text) == 1:
        raise next(iter(by_text.values()))
    if by_text:
        raise LoadProblems(list(by_text.values()))


class Unreadable(LoadProblem):
    """Not there, not UTF-8, or not YAML."""

    code = "unreadable"
    cause = "the file is missing or is not YAML"


class DuplicateKey(LoadProblem):
    """A YAML mapping names one key twice: the first value would be lost silently."""

    code = "duplicate-key"
    cause = "a mapping names a key twice"


class BadShape(LoadProblem):
    """A member is unknown, missing, or has a value of the wrong form."""

    code = "bad-shape"
    cause = "the file does not follow its schema"
    hint = "docs/packs.md describes every member; editors check against conformance/run/pack.schema.json"


class BadKnownList(BadShape):
    """The list of known failures, or an entry of it, has another form."""

    code = "bad-known-list"
    cause = "the list of known failures does not have its form"
    hint = "docs/packs.md shows such a list under Known failures"


class DuplicateId(LoadProblem):
    """Two packs, cases, rows or steps share an id."""

    code = "duplicate-id"
    cause = "an id is used twice"


class UnknownName(LoadProblem):
    """A requirement, operation, capability, profile key, function, matcher, account or driver that nobody knows."""

    code = "unknown-name"
    cause = "a name refers to nothing"


class UndefinedVariable(LoadProblem):
    """A `${variable}` that no earlier step defines."""

    code = "undefined-variable"
    cause = "a variable is used before anything defines it"


class RefusalUnproven(LoadProblem):
    """A refusal without a control, with a control that proves nothing, or a refused write without `unchanged`."""

    code = "refusal-unproven"
    cause = "a refusal proves nothing alone"
    hint = "name an earlier accepted step of the same operation as `control`, and list in `unchanged` what must stay"


class NothingAsserted(LoadProblem):
    """A case whose steps judge nothing: it would pass on every node."""

    code = "nothing-asserted"
    cause = "a case judges nothing"
