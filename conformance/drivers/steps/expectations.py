"""The `expect` and `save` of a step: paths into an answer, compiled when the pack is loaded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pydantic import JsonValue

from conformance.language.matchers import Difference, Matcher, compile_matcher
from conformance.language.scope import Scope
from conformance.language.templates import CompileContext
from conformance.problems import BadShape, Mismatch
from conformance.values.json_values import MISSING, printed_json

Path = tuple[str, ...]
Reader = Callable[[Path], object]
"""Gives the value at a path of an answer; MISSING when there is none."""
AROUND_THE_BODY = frozenset({"@accepted", "@status", "@text", "@headers", "@seconds"})
SHOWN = 600


def compile_path(text: str, site: CompileContext) -> Path:
    """A path as a pack writes it: `""`, `group_id`, `0.id`, `@status`, `@headers.content-type`."""
    if text.startswith("@headers."):
        return ("@headers", text.removeprefix("@headers.").lower())
    if text.startswith("@") and text not in AROUND_THE_BODY:
        known = ", ".join(sorted(AROUND_THE_BODY))
        raise site.problem(BadShape, f"{text!r}: around the body stand only {known} and @headers.NAME")
    parts = tuple(text.split(".")) if text else ()
    if "" in parts:
        raise site.problem(BadShape, f"{text!r} is no path: members and indices, with single dots between them")
    return parts


@dataclass(frozen=True)
class Expectations:
    """What a step expects of an answer, and what it saves from it."""

    matchers: tuple[tuple[Path, Matcher], ...]
    saves: tuple[tuple[str, Path], ...]

    def around_the_body(self) -> Expectations:
        """Those that any answer can meet, a refusal as well."""
        return Expectations(
            tuple((path, matcher) for path, matcher in self.matchers if path and path[0].startswith("@")),
            tuple((name, path) for name, path in self.saves if path and path[0].startswith("@")),
        )

    def judge(self, read: Reader, scope: Scope, exchange: int | None = None) -> None:
        """Raise Mismatch for the first value that is not as expected."""
        for path, matcher in self.matchers:
            difference = matcher(read(path), scope)
            if difference:
                raise mismatch(difference.inside(".".join(path)) if path else difference, exchange)

    def keep(self, read: Reader, scope: Scope, exchange: int | None = None) -> None:
        """Save what the step saves. Raises Mismatch for a member that is not there."""
        for name, path in self.saves:
            value = read(path)
            if value is MISSING:
                raise Mismatch(f"a member {'.'.join(path)} in the answer", printed_json(read(()))[:SHOWN], exchange)
            scope.variables[name] = value


def compile_expectations(expect: dict[str, JsonValue], save: dict[str, str], site: CompileContext) -> Expectations:
    """The expectations of a step; its saved names are defined from then on."""
    matchers = tuple(
        (compile_path(path, site.at("expect", path)), compile_matcher(raw, site.at("expect", path)))
        for path, raw in expect.items()
    )
    saves = tuple((name, compile_path(path, site.at("save", name))) for name, path in save.items())
    site.names.update(save)
    return Expectations(matchers, saves)


def mismatch(difference: Difference, exchange: int | None, why: str = "") -> Mismatch:
    """A difference as a problem of the step."""
    where = f" at {difference.path.rstrip('.')}" if difference.path else ""
    got = difference.got if difference.got is MISSING else printed_json(difference.got)
    return Mismatch(
        f"{difference.expected}{where}{f' ({why})' if why else ''}",
        str(got)[:SHOWN],
        exchange,
    )
