"""Loads packs into cases. Reports every fault of the packs at once, before anything runs."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from pydantic import JsonValue

from conformance.drivers import DRIVERS
from conformance.language import operators  # noqa: F401 - the import registers the matchers
from conformance.language.case_info import CaseInfo
from conformance.language.models import CaseForm, PackForm
from conformance.language.rows import compile_row, define_rows
from conformance.language.templates import CompileContext
from conformance.language.vocabulary import Vocabulary, standard, suggestion
from conformance.problems import (
    BadShape,
    DuplicateId,
    LoadProblem,
    NothingSelected,
    UnknownName,
    raise_all,
)
from conformance.run.case import Case
from conformance.run.listing import PYTHON, pack_files
from conformance.run.python_cases import load_python_pack
from conformance.run.validation import validated
from conformance.values.marked_yaml import Document, uncollected


def load(folders: Sequence[Path], names: Sequence[str] = (), vocabulary: Vocabulary | None = None) -> list[Case]:
    """Load the cases of the packs in these folders whose names match a glob; without globs, of all packs.

    An opt-in pack is loaded only by its exact name. Raises LoadProblem for faulty packs, and NothingSelected for a glob
    that no pack matches.
    """
    files = pack_files(folders)
    chosen = [path for path in files if not names or any(fnmatchcase(path.stem, name) for name in names)]
    for name in names:
        if not any(fnmatchcase(path.stem, name) for path in files):
            raise no_pack(name, [path.stem for path in files])
    cases = [case for loaded in load_packs(chosen, vocabulary).values() for case in loaded]
    return [case for case in cases if not case.opt_in or case.pack in names]


def no_pack(name: str, known: Sequence[str]) -> NothingSelected:
    """The problem to raise for a `--pack` that matches no pack."""
    others = f"; there are {', '.join(known) or 'none'}"
    return NothingSelected(f"no pack is called {name!r}{suggestion(name, known) or others}")


def load_packs(files: Sequence[Path], vocabulary: Vocabulary | None = None) -> dict[Path, list[Case]]:
    """Load the cases of each file. Raises LoadProblem, or LoadProblems with every fault of every file."""
    loaded: dict[Path, list[Case]] = {}
    problems: list[LoadProblem] = []
    for path in files:
        try:
            loaded[path] = load_pack(path, vocabulary)
        except LoadProblem as problem:
            problems.append(problem)
    raise_all(problems)
    return loaded


@uncollected()
def load_pack(path: Path, vocabulary: Vocabulary | None = None) -> list[Case]:
    """Load the cases of one pack file. Raises LoadProblem, or LoadProblems with every fault of the file."""
    if path.suffix == PYTHON:
        return load_python_pack(path, vocabulary or standard())
    context = CompileContext(Document(path), vocabulary or standard())
    pack = _head(context)
    seen: set[str] = set()
    cases: list[Case] = []
    for index, raw in enumerate(pack.cases):
        cases += _cases(raw, pack, seen, context.at("cases", index))
    _check_aliases(context)
    raise_all(context.faults)
    return cases


def _check_aliases(context: CompileContext) -> None:
    """Report aliases whose anchor is in another case or in the pack's head: each case has to be readable alone."""
    aliases = {alias: anchored for anchored, alias in context.document.aliases}
    for alias, anchored in aliases.items():
        if anchored[:2] != alias[:2] and alias[:-1] not in aliases:
            line = context.document.line(anchored)
            place = alias[:-1] if isinstance(alias[-1], int) else alias
            context.elsewhere(place).report(
                BadShape, f"an alias repeats what stands outside of the case, in line {line}: write it out here"
            )


def _head(context: CompileContext) -> PackForm:
    """Validate the pack's head. Where it is faulty, return a stand-in with the cases, so that they are checked, too."""
    name = context.document.path.stem
    value = context.document.value
    pack = validated(PackForm, value, context)
    if pack is None:
        cases = value.get("cases") if isinstance(value, dict) else None
        readable = [case for case in cases if isinstance(case, dict)] if isinstance(cases, list) else []
        return PackForm.model_construct(pack=name, title="", needs=[], opt_in=False, cases=readable)
    if pack.pack != name:
        file = context.document.path.name
        context.at("pack").report(BadShape, f"the pack is called {pack.pack!r}, but its file {file}")
    _check_names(pack.needs, context.vocabulary.capabilities, "capability", context.at("needs"))
    return pack


def _cases(raw: dict[str, JsonValue], pack: PackForm, seen: set[str], context: CompileContext) -> list[Case]:
    """Compile one case, or one for each of its rows. Where it is faulty, report that and return none."""
    driver = raw.get("driver", "steps")
    if driver not in DRIVERS:
        known = ", ".join(DRIVERS)
        context.at("driver").report(UnknownName, f"no driver is called {driver!r}; there are {known}")
        return []
    form = validated(DRIVERS[str(driver)].form, raw, context)
    if form is None:
        return []
    if form.id in seen:
        context.at("id").report(DuplicateId, f"another case of this pack has the id {form.id!r}")
    seen.add(form.id)
    try:
        return _compile(form, str(driver), pack, context)
    except LoadProblem as problem:
        context.faults.append(problem)
        return []


def _compile(form: CaseForm, driver: str, pack: PackForm, context: CompileContext) -> list[Case]:
    _check_names(form.requirements, context.vocabulary.requirements, "requirement", context.at("requirements"))
    _check_names(form.needs, context.vocabulary.capabilities, "capability", context.at("needs"))
    info = CaseInfo(needs={*pack.needs, *form.needs})
    _note_uses(form, info, context)
    rows = form.each or [{}]
    inside = context.case(info)
    if form.each:
        define_rows(form.each, inside.at("each"))
    program = DRIVERS[driver].prepare(form, inside)
    return [
        Case(
            id=f"{pack.pack}::{form.id}" + (f"[{row['id']}]" if form.each else ""),
            pack=pack.pack,
            title=form.title,
            requirements=tuple(form.requirements),
            path=context.document.path,
            line=context.document.line((*context.place, "each", index) if form.each else context.place),
            info=info,
            program=program,
            opt_in=pack.opt_in,
            silence_is_not_offered=info.silence_is_not_offered,
            row=compile_row(row, context.at("each", index).case(info)),
        )
        for index, row in enumerate(rows)
    ]


def _note_uses(form: CaseForm, info: CaseInfo, context: CompileContext) -> None:
    for index, use in enumerate(form.uses):
        stated = {use: None} if isinstance(use, str) else use
        _check_names(list(stated), context.vocabulary.profile_keys, "profile key", context.at("uses", index))
        info.uses.update(stated)
        if not isinstance(use, str):
            info.stated += [(key, value if isinstance(value, list) else [value]) for key, value in use.items()]


def _check_names(names: Sequence[str], known: frozenset[str], what: str, context: CompileContext) -> None:
    for index, name in enumerate(names):
        if name not in known:
            context.at(index).report(UnknownName, f"no {what} is called {name!r}{suggestion(name, known)}")
