"""Reads the catalogue and the list of what no check proves yet."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from conformance.problems import LoadProblem
from conformance.requirements.coverage import Uncovered
from conformance.requirements.model import Catalogue, Part
from conformance.values.marked_yaml import Document

HERE = Path(__file__).resolve().parent
CATALOGUE_FILE = HERE / "catalogue.yaml"
UNCOVERED_FILE = HERE / "uncovered.yaml"

File = TypeVar("File", bound=Part)


class BadCatalogue(LoadProblem):
    """The catalogue, or the list of what is not covered, does not follow its form."""

    code = "bad-catalogue"
    cause = "the requirement catalogue does not follow its form"
    hint = "docs/requirements.md describes every member"


@cache
def catalogue() -> Catalogue:
    """The shipped catalogue."""
    return load_catalogue(CATALOGUE_FILE)


@cache
def uncovered() -> Uncovered:
    """The shipped list of what no check proves yet."""
    return load_uncovered(UNCOVERED_FILE, catalogue())


def load_catalogue(path: Path) -> Catalogue:
    """A catalogue in a YAML file. BadCatalogue: the first fault, with its line."""
    return _load(path, Catalogue)


def load_uncovered(path: Path, known: Catalogue) -> Uncovered:
    """A list of what is not covered. BadCatalogue: the first fault, or an id that the catalogue does not have."""
    listed = _load(path, Uncovered)
    for name in (*listed.reasons, *listed.missing):
        if name not in known.by_id:
            raise BadCatalogue(f"{name} is not in the catalogue", path)
    return listed


def _load(path: Path, model: type[File]) -> File:
    document = Document(path)
    try:
        return model.model_validate_json(json.dumps(document.value))
    except ValidationError as problem:
        fault = problem.errors(include_url=False)[0]
        place = tuple(fault["loc"])
        where = ".".join(map(str, place))
        message = fault["msg"].removeprefix("Value error, ")
        raise BadCatalogue(f"{where}: {message}" if where else message, path, document.line(place)) from problem
