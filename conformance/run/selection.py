"""Which cases of which packs a run is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from conformance.endpoints.extent import SampleOptions
from conformance.problems import DuplicateId, NothingSelected
from conformance.resources import scenarios
from conformance.run.case import Case
from conformance.run.listing import ListedCase, list_cases
from conformance.run.loader import PYTHON, load_packs, pack_files
from conformance.run.options import Options
from conformance.run.python_cases import list_python_cases


@dataclass(frozen=True)
class Selection:
    """The cases of a run."""

    by_file: dict[Path, list[Case]]
    """The cases of each chosen pack, by the pack's resolved path."""
    others: tuple[Path, ...]
    """The packs that were not loaded, because nothing in them can be selected."""
    globs: tuple[str, ...]
    extent: SampleOptions

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
        return listed + [case for path in self.others for case in _listed(path)]

    def wants(self, case: Case) -> bool:
        """Whether `--case` selects it, and `--cell` leaves something to do of a matrix."""
        selected = not self.globs or any(matches(case.id, pattern) for pattern in self.globs)
        return selected and (not case.info.cells or self.extent.leaves(case.info.cells))


def _listed(path: Path) -> list[ListedCase]:
    return list_python_cases(path) if path.suffix == PYTHON else list_cases(path)


def matches(case: str, pattern: str) -> bool:
    """Whether a case's id matches: literally, or by `*` and `?`. Brackets are those of a row."""
    return case == pattern or fnmatchcase(case, pattern.replace("[", "[[]"))


def select(options: Options, given: Sequence[Path] = ()) -> Selection:
    """Load the packs that hold what the options ask for, and no others.

    `given` are the paths on pytest's command line; pack files among them are packs too, and where there is nothing
    else, the only ones. Raises LoadProblem, and NothingSelected for a `--pack` that names none.
    """
    files = [path.resolve() for path in pack_files([scenarios(), *options.pack_dirs])]
    given_files = [path for path in map(Path.resolve, given) if path in files or _is_yaml(path)]
    files = _with_given(files, given_files)
    for name in options.packs:
        if not any(fnmatchcase(path.stem, name) for path in files):
            known = ", ".join(path.stem for path in files) or "none"
            raise NothingSelected(f"no pack is called {name!r}; there are {known}")
    chosen = [
        path
        for path in files
        if not options.packs or any(fnmatchcase(path.stem, name) for name in options.packs)
        if len(given_files) < len(given) or not given or path in given_files
    ]
    loaded = load_packs(_with_wanted_cases(chosen, options.cases))
    named = {*options.packs, *(path.stem for path in given_files)}
    by_file = {path: cases for path, cases in loaded.items() if path.stem in named or not cases[0].opt_in}
    selection = Selection(by_file, tuple(path for path in files if path not in by_file), options.cases, options.extent)
    _check_cells(selection)
    return selection


def _is_yaml(path: Path) -> bool:
    """Python files are packs in the folders of packs alone: elsewhere they are pytest's own."""
    return path.suffix == ".yaml" and path.is_file()


def _with_given(files: list[Path], given: Sequence[Path]) -> list[Path]:
    for path in given:
        if path in files:
            continue
        if twin := next((file for file in files if file.stem == path.stem), None):
            raise DuplicateId(f"the pack {path.stem!r} is also in {twin}", path)
        files.append(path)
    return files


def _with_wanted_cases(files: list[Path], patterns: Sequence[str]) -> list[Path]:
    """The packs whose name fits one of the patterns of `--case`; all of them where none does."""
    fitting = [path for path in files if any(_may_hold(path.stem, pattern) for pattern in patterns)]
    return fitting or files


def _may_hold(pack: str, pattern: str) -> bool:
    pack_pattern, separator, _ = pattern.partition("::")
    return not separator or fnmatchcase(pack, pack_pattern)


def _check_cells(selection: Selection) -> None:
    """A cell that no selected matrix has is a slip of the pen."""
    cells = [cell for path in selection.chosen_files for case in selection.by_file[path] for cell in case.info.cells]
    for pattern in selection.extent.cells:
        if not any(fnmatchcase(cell, pattern) for cell in cells):
            example = f"; there is, for example, {cells[0]}" if cells else ": no case is a matrix"
            raise NothingSelected(f"no cell is called {pattern!r}{example}")
