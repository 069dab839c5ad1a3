"""Generates the reference of packs, docs/pack-reference.md, from models and docstrings.

`python -m conformance.run.reference` writes the file.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from pydantic import BaseModel

from conformance.drivers import DRIVERS
from conformance.language import models
from conformance.language.matchers import OPERATORS
from conformance.run import loader  # noqa: F401 - imports the module that registers the matchers

STEPS: tuple[type[BaseModel], ...] = (
    models.AccountStep,
    models.NewWalletStep,
    models.NewGroupStep,
    models.NewKeyStep,
    models.CallStep,
    models.ListStep,
)
HEAD = """\
# Reference of packs

Made from the models and docstrings by `python -m conformance.run.reference`; [packs.md](packs.md) explains them. Every
step may have an `id`.
"""


def text() -> str:
    """The page."""
    return "\n".join([HEAD, *_cases(), *_steps(), *_matchers()])


def _cases() -> Iterator[str]:
    yield "## Packs and cases\n"
    yield from _table("A pack", models.PackForm)
    yield from _table("A case", models.CaseForm)
    common = set(models.CaseForm.model_fields) | {"driver"}
    for name, driver in DRIVERS.items():
        yield from _table(f"`driver: {name}`", driver.form, common)


def _steps() -> Iterator[str]:
    yield "## Steps\n"
    for model in STEPS:
        kind = next(kind for kind in models.KINDS if kind in _members(model))
        yield from _table(f"`{kind}`", model, {"id"})


def _table(title: str, model: type[BaseModel], left_out: set[str] | frozenset[str] = frozenset()) -> Iterator[str]:
    yield f"### {title}\n"
    yield f"{inspect.cleandoc(model.__doc__ or '')}\n"
    members = {name: meaning for name, meaning in _members(model).items() if name not in left_out}
    if members:
        yield "| member | |"
        yield "|---|---|"
        yield from (f"| `{name}` | {meaning} |" for name, meaning in members.items())
        yield ""


def _members(model: type[BaseModel]) -> Mapping[str, str]:
    return {
        field.alias or name: " ".join((field.description or "").split()) for name, field in model.model_fields.items()
    }


def _matchers() -> Iterator[str]:
    yield "## Matchers\n"
    yield "| matcher | holds for |"
    yield "|---|---|"
    yield from (f"| `{name}` | {_said(maker)} |" for name, maker in sorted(OPERATORS.items()))
    yield ""


def _said(thing: Callable[..., object]) -> str:
    first = inspect.cleandoc(thing.__doc__ or "").partition("\n\n")[0]
    return " ".join(first.split())


if __name__ == "__main__":
    (Path(__file__).parents[2] / "docs" / "pack-reference.md").write_text(text(), encoding="utf-8")
