"""Reads packs into cases; whatever cannot work is refused here, with file and line, before anything runs."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, JsonValue, ValidationError
from pydantic_core import ErrorDetails

from conformance.drivers import DRIVERS
from conformance.language import (  # noqa: F401 - they enter their matchers and functions under their names
    array_operators,
    derivations,
    operators,
    parts,
    runs,
    secrecy,
    wallets,
    wire_forms,
)
from conformance.language.facts import CaseFacts
from conformance.language.models import CaseForm, PackForm
from conformance.language.rows import check_rows, compile_row
from conformance.language.templates import CompileContext
from conformance.language.vocabulary import Vocabulary, standard
from conformance.problems import BadShape, DuplicateId, NothingSelected, UnknownName, Unreadable
from conformance.run.case import Case
from conformance.values.marked_yaml import Document, Place

M = TypeVar("M", bound=BaseModel)


def load(folders: Sequence[Path], names: Sequence[str] = (), vocabulary: Vocabulary | None = None) -> list[Case]:
    """The cases of the packs in some folders whose names match a glob; no glob: of all.

    A pack that is opt-in is among them by its own name alone. Raises LoadProblem for the first pack that cannot be
    used, NothingSelected for a glob that no pack matches.
    """
    files = pack_files(folders)
    chosen = [path for path in files if not names or any(fnmatchcase(path.stem, name) for name in names)]
    for name in names:
        if not any(fnmatchcase(path.stem, name) for path in files):
            known = ", ".join(path.stem for path in files) or "none"
            raise NothingSelected(f"no pack is called {name!r}; there are {known}")
    cases = [case for path in chosen for case in load_pack(path, vocabulary)]
    return [case for case in cases if not case.opt_in or case.pack in names]


def pack_files(folders: Sequence[Path]) -> list[Path]:
    """The pack files of some folders. Raises LoadProblem for two of one name, and for a folder that is none."""
    found: dict[str, Path] = {}
    for folder in folders:
        if not folder.is_dir():
            raise Unreadable("is no folder", folder)
        for path in sorted(folder.glob("*.yaml")):
            if not path.is_file():
                raise Unreadable("is no file", path)
            if path.stem in found:
                raise DuplicateId(f"the pack {path.stem!r} is also in {found[path.stem]}", path)
            found[path.stem] = path
    return list(found.values())


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without the collector of garbage: what loading makes stays, and it would look through all of it many times."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@_uncollected()
def load_pack(path: Path, vocabulary: Vocabulary | None = None) -> list[Case]:
    """The cases of one pack file."""
    site = CompileContext(Document(path), vocabulary or standard())
    pack = _validated(PackForm, site.document.value, site)
    if pack.pack != path.stem:
        raise site.at("pack").problem(BadShape, f"the pack is called {pack.pack!r}, but its file {path.name}")
    _check_names(pack.needs, site.vocabulary.capabilities, "capability", site.at("needs"))
    seen: set[str] = set()
    cases: list[Case] = []
    for index, raw in enumerate(pack.cases):
        inside = site.at("cases", index)
        form = _case_form(raw, inside)
        if form.id in seen:
            raise inside.at("id").problem(DuplicateId, f"another case of this pack has the id {form.id!r}")
        seen.add(form.id)
        cases += _compile(form, str(raw.get("driver", "steps")), pack, inside)
    return cases


def _case_form(raw: dict[str, JsonValue], site: CompileContext) -> CaseForm:
    driver = raw.get("driver", "steps")
    if driver not in DRIVERS:
        raise site.at("driver").problem(UnknownName, f"no driver is called {driver!r}; there are {', '.join(DRIVERS)}")
    return _validated(DRIVERS[str(driver)].form, raw, site)


def _compile(form: CaseForm, driver: str, pack: PackForm, site: CompileContext) -> list[Case]:
    _check_names(form.requirements, site.vocabulary.requirements, "requirement", site.at("requirements"))
    _check_names(form.needs, site.vocabulary.capabilities, "capability", site.at("needs"))
    facts = CaseFacts(needs={*pack.needs, *form.needs})
    _note_uses(form, facts, site)
    rows = form.each or [{}]
    names = check_rows(rows, site.at("each")) if form.each else set()
    own = CompileContext(site.document, site.vocabulary, site.place, names, facts)
    program = DRIVERS[driver].prepare(form, own)
    return [
        Case(
            id=f"{pack.pack}::{form.id}" + (f"[{row['id']}]" if form.each else ""),
            pack=pack.pack,
            title=form.title,
            requirements=tuple(form.requirements),
            path=site.document.path,
            line=site.document.line((*site.place, "each", index) if form.each else site.place),
            facts=facts,
            program=program,
            opt_in=pack.opt_in,
            row=compile_row(
                row, CompileContext(site.document, site.vocabulary, (*site.place, "each", index), facts=facts)
            ),
        )
        for index, row in enumerate(rows)
    ]


def _note_uses(form: CaseForm, facts: CaseFacts, site: CompileContext) -> None:
    for index, use in enumerate(form.uses):
        stated = {use: None} if isinstance(use, str) else use
        _check_names(list(stated), site.vocabulary.profile_keys, "profile key", site.at("uses", index))
        facts.uses.update(stated)
        if not isinstance(use, str):
            facts.stated += [(key, value if isinstance(value, list) else [value]) for key, value in use.items()]


def _check_names(names: Sequence[str], known: frozenset[str], what: str, site: CompileContext) -> None:
    for index, name in enumerate(names):
        if name not in known:
            raise site.at(index).problem(UnknownName, f"no {what} is called {name!r}")


def _validated(model: type[M], value: JsonValue, site: CompileContext) -> M:
    try:
        return model.model_validate(value)
    except ValidationError as problem:
        faults = [(_place(error["loc"], site), _said(error)) for error in problem.errors(include_url=False)]
    deepest = max(len(place) for place, _ in faults)
    place, _ = next(fault for fault in faults if len(fault[0]) == deepest)
    messages = dict.fromkeys(message for where, message in faults if where == place)
    raise CompileContext(site.document, site.vocabulary, place).problem(
        BadShape, f"{'.'.join(map(str, place)) or 'the pack'}: {', or '.join(messages)}"
    )


def _said(error: ErrorDetails) -> str:
    if error["type"] == "missing":
        return f"the member {error['loc'][-1]!r} is missing"
    if error["type"] == "extra_forbidden":
        return "there is no such member"
    return str(error["msg"])


def _place(loc: Sequence[str | int], site: CompileContext) -> Place:
    """Pydantic's location without the names of union members, which are not in the document."""
    place = site.place
    for part in loc:
        if site.document.has((*place, part)):
            place = (*place, part)
    return place
