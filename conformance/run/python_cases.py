"""Loads Python packs, and checks the decorators of their cases before anything runs; errors name file and line."""

from __future__ import annotations

import inspect
import re
import sys
import traceback
from collections.abc import Iterator, Sequence
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from conformance.cases import SERVICES, Judge, PythonCase
from conformance.language.case_info import CaseInfo
from conformance.language.vocabulary import Vocabulary, suggestion
from conformance.problems import BadShape, DuplicateId, LoadProblem, UnknownName, Unreadable, raise_all
from conformance.run.case import Case
from conformance.run.listing import OPT_IN
from conformance.service.accounts import Accounts
from conformance.service.provider_control import ProviderControl

KEBAB = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
ROW = "row"
"""The argument of a case with `each`."""


def load_python_pack(path: Path, vocabulary: Vocabulary) -> list[Case]:
    """Load the cases of a Python file. Raises LoadProblem, or LoadProblems with every fault."""
    module = _imported(path)
    visible = [made for value in vars(module).values() if isinstance(made := _case_of(value), PythonCase)]
    own = sorted({case.id: case for case in visible if case.function.__module__ == module.__name__}.values(), key=_line)
    problems = [problem for case in own for problem in _problems(case, path, vocabulary)]
    problems += _twins(visible, path)
    if not own:
        problems.append(BadShape("no function of the file is a case: see docs/python-cases.md", path))
    raise_all(problems)
    opt_in = bool(getattr(module, OPT_IN, False))
    return [_made(case, path, opt_in, row) for case in own for row in (case.each or [None])]


def _imported(path: Path) -> ModuleType:
    """Import the file as a module. Raises Unreadable with the line that fails."""
    name = f"conformance_cases_{path.stem}"
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise Unreadable("is no Python file", path)
    module = sys.modules[name] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except SyntaxError as problem:
        raise Unreadable(f"is not Python: {problem.msg}", path, problem.lineno or 0) from None
    except Exception as problem:
        lines = [
            frame.lineno or 0 for frame in traceback.extract_tb(problem.__traceback__) if frame.filename == str(path)
        ]
        message = f"cannot be imported: {type(problem).__name__}: {problem}"
        raise Unreadable(message, path, lines[-1] if lines else 0) from problem
    return module


def _case_of(value: object) -> object:
    return getattr(value, "conformance_case", None) if inspect.isfunction(value) else None


def _line(case: PythonCase) -> int:
    return case.line


def _twins(cases: Sequence[PythonCase], path: Path) -> Iterator[LoadProblem]:
    seen: set[str] = set()
    for case in sorted(cases, key=_line):
        if case.id in seen:
            yield DuplicateId(f"another case of this pack has the id {case.id!r}", path, case.line)
        seen.add(case.id)


def _problems(case: PythonCase, path: Path, vocabulary: Vocabulary) -> Iterator[LoadProblem]:
    """What is wrong with a case."""
    if not KEBAB.fullmatch(case.id):
        yield BadShape(f"the id {case.id!r} is not in kebab case", path, case.line)
    if not case.title:
        yield BadShape(f"the case {case.id} has no docstring: its first paragraph is the title", path, case.line)
    for row in case.each or ():
        if not KEBAB.fullmatch(row):
            yield BadShape(f"the id {row!r} of a row of {case.id} is not in kebab case", path, case.line)
    if not case.requirements:
        yield BadShape(f"the case {case.id} names no requirement", path, case.line)
    keys = [key for use in case.uses for key in ([use] if isinstance(use, str) else use)]
    for names, known, what in (
        (case.requirements, vocabulary.requirements, "requirement"),
        (case.needs, vocabulary.capabilities, "capability"),
        (keys, vocabulary.profile_keys, "profile key"),
    ):
        for name in names:
            if name not in known:
                yield UnknownName(f"no {what} is called {name!r}{suggestion(name, known)}", path, case.line)
    yield from _wrong_arguments(case, path)


def _wrong_arguments(case: PythonCase, path: Path) -> Iterator[LoadProblem]:
    try:
        arguments = case.arguments
    except (NameError, TypeError, AttributeError) as problem:
        yield UnknownName(f"the arguments of {case.id} are typed by something unknown: {problem}", path, case.line)
        return
    known = ", ".join(sorted(kind.__name__ for kind in (Judge, *SERVICES)))
    if (case.each is None) == (ROW in arguments):
        yield BadShape(f"the case {case.id} takes the argument `row` exactly if it has `each`", path, case.line)
    for name, kind in arguments.items():
        if name != ROW and kind is not Judge and kind not in SERVICES:
            yield UnknownName(f"the argument {name!r} of {case.id} has no type of {known}", path, case.line)
    if Judge not in arguments.values():
        yield BadShape(f"the case {case.id} asks for no Judge: nothing in it could fail", path, case.line)


def _made(case: PythonCase, path: Path, opt_in: bool, row: str | None) -> Case:
    info = CaseInfo(needs={"http", *case.needs})
    # Other cases would meet a provider that fails, another time or certificate than a moment ago, or no node.
    alters = bool(info.needs & {"certificate_control", "clock_control", "restart"})
    info.alone, info.counts_time = alters or ProviderControl in case.arguments.values(), "clock_control" in info.needs
    for use in case.uses:
        info.uses.update([use] if isinstance(use, str) else use)
        if not isinstance(use, str):
            info.stated += [(key, value if isinstance(value, list) else [value]) for key, value in use.items()]
    if Accounts in case.arguments.values():
        info.accounts.append("account")
        info.operations.add("new_account")
    return Case(
        id=f"{path.stem}::{case.id}" + (f"[{row}]" if row else ""),
        pack=path.stem,
        title=case.title,
        requirements=case.requirements,
        path=path,
        line=case.line,
        info=info,
        program=case.program({ROW: case.each[row]} if case.each and row else {}),
        opt_in=opt_in,
        silence_is_not_offered=True,
    )
