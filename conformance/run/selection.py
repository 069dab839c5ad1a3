"""Selects the packs and cases that the options of a run ask for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from conformance.endpoints.extent import SampleOptions
from conformance.language.vocabulary import suggestion
from conformance.problems import DuplicateId, NothingSelected
from conformance.report.load import load_results
from conformance.resources import scenarios
from conformance.run.case import Case, matches
from conformance.run.listing import ListedCase, list_pack, pack_files
from conformance.run.loader import load_packs, no_pack
from conformance.run.options import Options
from conformance.run.requirement_filter import RequirementFilter
from conformance.verdict import Verdict

FAILED_TO_PASS = (Verdict.FAIL, Verdict.INCONCLUSIVE)
"""The verdicts of `--from` without `--only`."""
NEAR_NAMES = 3
"""How many similar names to suggest where no case has the name that was asked for."""


@dataclass(frozen=True)
class Selection:
    """The cases of a run."""

    by_file: dict[Path, list[Case]]
    """The cases of each chosen pack, by the pack's resolved path."""
    others: tuple[Path, ...]
    """The packs that were not loaded, because the options select none of their cases."""
    globs: tuple[str, ...]
    extent: SampleOptions
    about: RequirementFilter

    @property
    def chosen_files(self) -> tuple[Path, ...]:
        """The packs that the options select."""
        return tuple(self.by_file)

    @property
    def loaded(self) -> list[Case]:
        """Every case of the chosen packs, also those that `--case` leaves out."""
        return [case for cases in self.by_file.values() for case in cases]

    def every_case(self) -> list[ListedCase]:
        """The cases of all packs, also of those that were not loaded."""
        listed = [ListedCase(case.id, case.requirements) for case in self.loaded]
        return listed + [case for path in self.others for case in list_pack(path)]

    def wants(self, case: Case) -> bool:
        """Whether `--case` and the options for requirements select it, and `--cell` leaves something of a matrix."""
        named = not self.globs or any(matches(case.id, pattern) for pattern in self.globs)
        return (
            named
            and self.about.fits(case.requirements)
            and (not case.info.cells or self.extent.leaves(case.info.cells))
        )


def select(options: Options, paths: Sequence[Path] = ()) -> Selection:
    """Load only the packs with cases that the options select.

    `paths` are the paths on pytest's command line. Pack files among them are added to the packs; where every path is a
    pack file, only those packs are chosen. Raises LoadProblem, and NothingSelected for an option that matches nothing.
    """
    files = [path.resolve() for path in pack_files([scenarios(), *options.pack_dirs])]
    named_files = [path for path in map(Path.resolve, paths) if path in files or _is_yaml(path)]
    files = _with_named(files, named_files)
    for name in options.packs:
        if not any(fnmatchcase(path.stem, name) for path in files):
            raise no_pack(name, [path.stem for path in files])
    chosen = [
        path
        for path in files
        if not options.packs or any(fnmatchcase(path.stem, name) for name in options.packs)
        if len(named_files) < len(paths) or not paths or path in named_files
    ]
    about = RequirementFilter.of(options)
    globs = (*options.cases, *_earlier_cases(options))
    loaded = load_packs(_with_wanted_cases(_with_wanted_requirements(chosen, about), globs))
    named = {*options.packs, *(path.stem for path in named_files)}
    by_file = {path: cases for path, cases in loaded.items() if path.stem in named or not cases[0].opt_in}
    others = tuple(path for path in files if path not in by_file)
    selection = Selection(by_file, others, globs, options.extent, about)
    _check_cases(selection)
    _check_cells(selection)
    return selection


def _earlier_cases(options: Options) -> list[str]:
    """The cases that had one of the verdicts of `--only` in the run of `--from`."""
    if options.earlier is None:
        if options.only is not None:
            raise NothingSelected("--only says which cases of an earlier run to take, and --from DIR names no run")
        return []
    if options.results is not None and options.results.resolve() == options.earlier.resolve():
        raise NothingSelected(f"--output has to be another folder than --from: {options.earlier} would be overwritten")
    wanted = FAILED_TO_PASS if options.only is None else options.only.split(",")
    found = [case.case for case in load_results(options.earlier).cases if case.verdict in wanted]
    if not found:
        raise NothingSelected(f"no case of the run in {options.earlier} ended as {' or '.join(wanted)}")
    return found


def _is_yaml(path: Path) -> bool:
    """Whether a path outside the pack folders is a pack. A Python file there is a test module of pytest."""
    return path.suffix == ".yaml" and path.is_file()


def _with_named(files: list[Path], named: Sequence[Path]) -> list[Path]:
    for path in named:
        if path in files:
            continue
        if twin := next((file for file in files if file.stem == path.stem), None):
            raise DuplicateId(f"the pack {path.stem!r} is also in {twin}", path)
        files.append(path)
    return files


def _with_wanted_cases(files: list[Path], patterns: Sequence[str]) -> list[Path]:
    """The packs whose name matches a pattern of `--case`; all packs where none does."""
    fitting = [path for path in files if any(_may_hold(path.stem, pattern) for pattern in patterns)]
    return fitting or files


def _with_wanted_requirements(files: list[Path], about: RequirementFilter) -> list[Path]:
    """The packs with a case that the filter selects. An open filter takes all packs without reading them."""
    if about.is_open:
        return files
    return [path for path in files if any(about.fits(case.requirements) for case in list_pack(path))]


def _may_hold(pack: str, pattern: str) -> bool:
    pack_pattern, separator, _ = pattern.partition("::")
    return not separator or fnmatchcase(pack, pack_pattern)


def _check_cases(selection: Selection) -> None:
    """Raise NothingSelected for a pattern of `--case` that matches no case of any pack."""
    loaded = [case.id for case in selection.loaded]
    unmatched = [pattern for pattern in selection.globs if not any(matches(name, pattern) for name in loaded)]
    known = [case.id for case in selection.every_case()] if unmatched else loaded
    for pattern in unmatched:
        if not any(matches(name, pattern) for name in known):
            raise NothingSelected(f"no case is called {pattern!r}{suggestion(pattern, known, NEAR_NAMES)}")


def _check_cells(selection: Selection) -> None:
    """Raise NothingSelected for a pattern of `--cell` that matches no cell of the selected matrices."""
    cells = [cell for path in selection.chosen_files for case in selection.by_file[path] for cell in case.info.cells]
    for pattern in selection.extent.cells:
        if not any(fnmatchcase(cell, pattern) for cell in cells):
            example = f"; there is, for example, {cells[0]}" if cells else ": no case is a matrix"
            raise NothingSelected(f"no cell is called {pattern!r}{example}")
