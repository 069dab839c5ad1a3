"""The members `expect` and `save` of a step: paths into an answer, compiled when the pack is loaded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pydantic import JsonValue

from conformance.drivers.steps.caserun import CaseRun
from conformance.endpoints.canonical import descend
from conformance.language.matchers import Difference, Matcher, compile_matcher
from conformance.language.shapes import ANYTHING, SCALAR, Shape, at_path, described
from conformance.language.templates import CompileContext
from conformance.problems import BadShape, Mismatch, UnknownName
from conformance.profile import OPERATIONS, WHOLE, read_aside
from conformance.values.json_values import MISSING, printed_json

Path = tuple[str, ...]
Reader = Callable[[Path], object]
"""Gives the value at a path of an answer; MISSING when there is none."""
AROUND_THE_BODY = frozenset({"@accepted", "@status", "@text", "@headers", "@seconds"})
SHOWN = 600


def compile_path(text: str, context: CompileContext) -> Path:
    """Split a path of a pack: `""`, `group_id`, `0.id`, `@status`, `@headers.content-type`."""
    if text.startswith("@headers."):
        return ("@headers", text.removeprefix("@headers.").lower())
    if text.startswith("@") and text not in AROUND_THE_BODY:
        known = ", ".join(sorted(AROUND_THE_BODY))
        raise context.problem(BadShape, f"{text!r}: around the body stand only {known} and @headers.NAME")
    if "${" in text:
        raise context.problem(BadShape, f"{text!r}: a path is literal, no variable can stand in it")
    parts = tuple(text.split(".")) if text else ()
    if "" in parts:
        raise context.problem(BadShape, f"{text!r} is no path: members and indices, with single dots between them")
    return parts


@dataclass(frozen=True)
class Expectations:
    """The expectations of a step about its answer, and the values that it saves."""

    matchers: tuple[tuple[Path, Matcher], ...]
    saves: tuple[tuple[str, Path], ...]
    source: str = ""
    """The operation that answers."""

    def around_the_body(self) -> Expectations:
        """The expectations that any answer can meet, a refusal too: those about status, headers and text."""
        return Expectations(
            tuple((path, matcher) for path, matcher in self.matchers if path and path[0].startswith("@")),
            tuple((name, path) for name, path in self.saves if path and path[0].startswith("@")),
            self.source,
        )

    def check(self, value: object, run: CaseRun, exchange: int | None = None) -> None:
        """Compare a value and save parts of it. Raises Mismatch for the first difference."""
        self.check_at(lambda path: descend(value, path), run, run.last_exchange if exchange is None else exchange)

    def check_at(self, read: Reader, run: CaseRun, exchange: int | None) -> None:
        """The same by a reader of paths. Raises Mismatch also for a missing member that has to be saved."""
        for path, matcher in self.matchers:
            difference = matcher(read(path), run.scope)
            if difference and path and self._is_whole(path, run):
                raise _mismatch(difference, exchange, of=f"{self.source}, whose whole answer it is by the profile")
            if difference:
                raise _mismatch(difference.inside(".".join(path)) if path else difference, exchange, of=self.source)
        for name, path in self.saves:
            value = read(path)
            if value is MISSING:
                raise Mismatch(
                    f"a member {'.'.join(path)} in the answer{_of(self.source)}",
                    printed_json(read(()))[:SHOWN],
                    exchange,
                )
            run.scope.variables[name] = value

    def _is_whole(self, path: Path, run: CaseRun) -> bool:
        """Whether the answer has no member of this name: by the profile it is the value itself."""
        if self.source not in OPERATIONS:
            return False
        with read_aside():
            return run.target.operation(self.source).response.get(path[0]) == WHOLE


def compile_expectations(
    expect: dict[str, JsonValue], save: dict[str, str], context: CompileContext, source: str, answer: Shape = ANYTHING
) -> Expectations:
    """Compile the expectations of a step about what `source` answers, by its shape. Defines the saved names."""
    matchers = tuple(_compile_expected(path, raw, answer, context.at("expect", path)) for path, raw in expect.items())
    saves: list[tuple[str, Path]] = []
    for name, text in save.items():
        path = compile_path(text, context.at("save", name))
        saves.append((name, path))
        context.define(name, _shape_at(path, answer, context.at("save", name)))
    return Expectations(matchers, tuple(saves), source)


def _compile_expected(text: str, raw: JsonValue, answer: Shape, context: CompileContext) -> tuple[Path, Matcher]:
    path = compile_path(text, context)
    return path, compile_matcher(raw, context.of(_shape_at(path, answer, context)))


def _shape_at(path: Path, answer: Shape, context: CompileContext) -> Shape:
    """The shape of the value at a path. Reports a path that no answer has."""
    if path and path[0].startswith("@"):
        return SCALAR if path[0] in {"@status", "@accepted", "@text", "@seconds"} else ANYTHING
    shape = at_path(answer, path)
    if shape is None:
        known = described(answer)
        context.report(UnknownName, f"{'.'.join(path)!r} is nothing that the answer has: it is {known}")
    return shape or ANYTHING


def _of(source: str) -> str:
    return f" of {source}" if source else ""


def _mismatch(difference: Difference, exchange: int | None, of: str) -> Mismatch:
    """The problem of the step for a difference; `of` is where the value comes from."""
    where = f" at {difference.path.rstrip('.')}" if difference.path else ""
    got = difference.got if difference.got is MISSING else printed_json(difference.got)
    return Mismatch(f"{difference.expected}{where}{_of(of)}", str(got)[:SHOWN], exchange)
