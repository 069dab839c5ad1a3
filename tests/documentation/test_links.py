"""What the documentation points at is there: pages, headings, files, options."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from functools import cache

import pytest
from pages import PAGES, ROOT, anchors, prose, quoted

import conformance.cli
import reference_node.cli
from conformance.cli import COMMANDS, SELFTEST
from conformance.run.options import SPELLINGS

TOP_FOLDERS = {path.name for path in ROOT.iterdir() if path.is_dir()} - {"reports"}
OTHER_PROGRAMS = {
    *("--cacert", "--ignore-scripts", "--junitxml", "--no-compile", "--prefix", "--target", "--version", "--write")
}
"""Options of npm, of pip, of curl, of the benchmarks, of pytest itself and of both commands without a subcommand."""
OF_PYTEST = {spelling.pytest_flag for spelling in SPELLINGS.values()}


def options(text: str) -> set[str]:
    """The long options in a text."""
    return set(re.findall(r"(?<![\w-])--[a-z][\w-]+", text))


@cache
def helped(main: Callable[[list[str]], int], *words: str) -> set[str]:
    """The options that the help of a command names."""
    told = io.StringIO()
    with redirect_stdout(told), suppress(SystemExit):
        main([*words, "--help"])
    return options(told.getvalue())


def of_suite(command: str) -> set[str]:
    """The options of a command of the suite."""
    words = [[command, kind] for kind in ("typed-data", "attestation")] if command == "vectors" else [[command]]
    return set().union(*(helped(conformance.cli.main, *parts) for parts in words))


def of_node(command: str) -> set[str]:
    """The options of a command of the reference node."""
    return helped(reference_node.cli.main, command)


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_to_pages_and_headings(page: str) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if link.startswith("https://"):
            continue
        path, _, anchor = link.partition("#")
        target = (ROOT / page).parent / path if path else ROOT / page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target.read_text(encoding="utf-8")), link


@pytest.mark.parametrize("page", PAGES)
def test_files_that_a_page_names_exist(page: str) -> None:
    for words in quoted(page):
        for word in words.split():
            if word.partition("/")[0] in TOP_FOLDERS and "/" in word and "*" not in word:
                assert (ROOT / word).exists(), word


def test_every_page_is_linked_from_another() -> None:
    linked = {
        (ROOT / page).parent.joinpath(link).resolve()
        for page in PAGES
        for link in re.findall(r"\]\(([^)\s#]+)", prose(page))
        if not link.startswith("https://")
    }
    assert {(ROOT / page).resolve() for page in PAGES if page != "README.md"} <= linked


def test_options_of_the_node_are_those_described() -> None:
    rows = re.findall(r"^\| (`--.*?) \|", PAGES["docs/node.md"], re.MULTILINE)
    assert options("\n".join(rows)) == of_node("serve") - {"--help"}


@pytest.mark.parametrize("page", PAGES)
def test_options_that_a_page_names_exist(page: str) -> None:
    for words in quoted(page):
        command = re.match(r"service-conformance (\w+)", words)
        if command:
            assert options(words) <= of_suite(command[1]), words
        elif words.startswith("pytest"):
            assert options(words) <= OF_PYTEST, words
    known = set().union(*map(of_suite, (*COMMANDS, SELFTEST)), *map(of_node, ("serve", "stripe-simulator")))
    known |= OTHER_PROGRAMS | OF_PYTEST
    assert options(" ".join(quoted(page))) <= known
