"""What a run writes down while it goes on, so that `--resume` can take it up again after it was stopped or killed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Self, TextIO

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from conformance.problems import LoadProblem
from conformance.run.options import SELECTING, SPELLINGS, Options
from conformance.run.unanswered import LOST_THE_NODE
from conformance.verdict import Outcome

JOURNAL_NAME = "unfinished.jsonl"
"""In the folder of `--output`, from the first case until the run has come to its end."""
OF_THE_RUN = (*SELECTING, "quick", "full", "cells", "budget", "scale", "seed", "profile", "pack_dirs", "evidence")
"""Options that decide what a run is: it is taken up again with them alone."""
_OUTCOME = TypeAdapter(Outcome)


class Begun(BaseModel):
    """The first line: what the run is."""

    model_config = ConfigDict(frozen=True)

    suite: str
    """The version that runs it."""
    seed: str
    options: tuple[tuple[str, str | None], ...]
    """Name and text of each option that was given; None for a switch."""
    profile: str
    """SHA-256 of the profile's file, hex; empty where the run has none."""
    began: datetime
    resumed: tuple[datetime, ...] = ()
    """When it was taken up again."""

    @classmethod
    def now(cls, options: Options, seed: str, began: datetime) -> Self:
        """That of a run that begins."""
        stated = tuple(options.stated())
        return cls(suite=_version(), seed=seed, options=stated, profile=_digest(options.profile), began=began)

    def again(self, now: datetime) -> Self:
        """That of the same run, taken up again."""
        return self.model_copy(update={"resumed": (*self.resumed, now)})


class Unfinished:
    """A run that did not come to its end."""

    def __init__(self, path: Path, begun: Begun, outcomes: Mapping[str, Outcome]) -> None:
        self._path = path
        self.begun = begun
        self.outcomes = outcomes
        """By case: what has a verdict."""

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read the journal of a folder. LoadProblem: there is none, or it is of another version."""
        path = folder / JOURNAL_NAME
        try:
            first, *lines = path.read_text(encoding="utf-8").split("\n")
            begun = Begun.model_validate_json(first)
        except (OSError, ValueError) as problem:
            raise LoadProblem("no run is here that was stopped and can be taken up again", path) from problem
        if begun.suite != _version():
            raise LoadProblem(f"version {begun.suite} of the suite began this run, and alone can go on with it", path)
        outcomes: dict[str, Outcome] = {}
        for number, line in enumerate(lines, 2):
            try:
                outcome = _OUTCOME.validate_json(line)
            except ValidationError as problem:
                if number > len(lines):  # the process was killed while it wrote
                    break
                raise LoadProblem("this line is no outcome of a case", path, number) from problem
            if outcome.properties.get("problem") not in LOST_THE_NODE:
                outcomes[outcome.case] = outcome
        return cls(path, begun, outcomes)

    def options(self, given: Options) -> Options:
        """The options of the run, with those given now in place of its own. LoadProblem: it would be another run."""
        read: dict[str, object] = {}
        for name, text in self.begun.options:
            value = True if text is None else SPELLINGS[name].type(text)
            was = getattr(Options, name)
            read[name] = (*read.get(name, ()), value) if isinstance(was, tuple) else value  # type: ignore[misc]
        read["seed"] = self.begun.seed
        own = Options(**read)  # type: ignore[arg-type]
        for name in SPELLINGS:
            now, default = getattr(given, name), getattr(Options, name)
            if now == default:
                continue
            if name in OF_THE_RUN and now != getattr(own, name):
                flag = SPELLINGS[name].flag
                raise LoadProblem(f"this run was begun without this {flag}, and cannot go on with it", self._path)
            own = replace(own, **{name: now})
        if own.evidence:
            raise LoadProblem("a run with --evidence has to be run in one: run it anew", self._path)
        if _digest(own.profile) != self.begun.profile:
            raise LoadProblem(f"{own.profile} has changed since this run was stopped: run it anew", self._path)
        return replace(own, results=given.resume)


class Journal:
    """The file into which the outcomes go. A file that cannot be written stops nothing."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / JOURNAL_NAME
        self._file: TextIO | None = None

    def begin(self, begun: Begun, outcomes: Sequence[Outcome]) -> None:
        """Write what the run is, and the outcomes that it has taken over, in place of an earlier run's."""
        with suppress(OSError):
            self._file = self._path.open("w", encoding="utf-8", newline="\n")
            self._write(begun.model_dump_json())
        for outcome in outcomes:
            self.add(outcome)

    def add(self, outcome: Outcome) -> None:
        """Write an outcome."""
        self._write(_OUTCOME.dump_json(outcome).decode())

    def _write(self, line: str) -> None:
        if self._file is None:
            return
        try:
            self._file.write(line + "\n")
            self._file.flush()
        except OSError:
            self.end()

    def end(self, *, is_whole: bool = True) -> None:
        """Close the file; remove it where the run has come to its end, or a line is missing."""
        if self._file is None:
            return
        file, self._file = self._file, None
        with suppress(OSError):
            file.close()
        if is_whole:
            with suppress(OSError):
                self._path.unlink()


def taken_up(given: Options) -> tuple[Options, Unfinished | None]:
    """The options of a run, and with `--resume` the run that it takes up again, whose options they are.

    Raises LoadProblem.
    """
    if given.resume is None:
        return given, None
    unfinished = Unfinished.read(given.resume)
    return unfinished.options(given), unfinished


def _version() -> str:
    return version("service-conformance")


def _digest(profile: Path | None) -> str:
    try:
        return "" if profile is None else sha256(profile.read_bytes()).hexdigest()
    except OSError as problem:
        raise LoadProblem(str(problem.strerror), Path(str(profile))) from problem
