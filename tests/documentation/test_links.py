"""What the documentation points at is there: pages, headings, files, options."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from contextlib import redirect_stdout, suppress

import pytest
from pages import PAGES, ROOT, anchors, prose, quoted

import conformance.cli
import reference_node.cli
from conformance.cli import COMMANDS, SELFTEST
from conformance.run.options import SPELLINGS

TOP_FOLDERS = {path.name for path in ROOT.iterdir() if path.is_dir()} - {"reports"}
OTHER_PROGRAMS = {
    "--prefix",
    "--write",
    "--ignore-scripts",
    "--no-compile",
    "--target",
    "--junitxml",
    "--version",
    "--cacert",
}
"""Options of npm, of pip, of curl, of the benchmarks, of pytest itself and of both commands without a subcommand."""
OF_PYTEST = {spelling.pytest_flag for spelling in SPELLINGS.values()}


def helped(main: Callable[[list[str]], int], *words: str) -> set[str]:
    """The options that the help of a command names."""
    told = io.StringIO()
    with redirect_stdout(told), suppress(SystemExit):
        main([*words, "--help"])
    return options(told.getvalue())


def options(text: str) -> set[str]:
    """The long options in a text."""
    return set(re.findall(r"(?<![\w-])--[a-z][\w-]+", text))


@pytest.fixture(scope="module")
def of_suite() -> dict[str, set[str]]:
    """The options of each command of the suite."""
    kinds = (helped(conformance.cli.main, "vectors", kind) for kind in ("typed-data", "attestation"))
    words = {*COMMANDS, SELFTEST} - {"vectors"}
    return {word: helped(conformance.cli.main, word) for word in words} | {"vectors": set().union(*kinds)}


@pytest.fixture(scope="module")
def of_node() -> set[str]:
    """The options of the reference node."""
    return helped(reference_node.cli.main, "serve")


@pytest.fixture(scope="module")
def of_simulator() -> set[str]:
    """The options of the Stripe simulator."""
    return helped(reference_node.cli.main, "stripe-simulator")


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


def test_options_of_the_node_are_those_described(of_node: set[str]) -> None:
    rows = re.findall(r"^\| (`--.*?) \|", PAGES["docs/node.md"], re.MULTILINE)
    assert options("\n".join(rows)) == of_node - {"--help"}


@pytest.mark.parametrize("page", PAGES)
def test_options_that_a_page_names_exist(
    page: str, of_suite: dict[str, set[str]], of_node: set[str], of_simulator: set[str]
) -> None:
    for words in quoted(page):
        command = re.match(r"service-conformance (\w+)", words)
        if command:
            assert options(words) <= of_suite[command[1]], words
        elif words.startswith("pytest"):
            assert options(words) <= OF_PYTEST, words
    known = set().union(*of_suite.values()) | of_node | of_simulator | OTHER_PROGRAMS | OF_PYTEST
    assert options(" ".join(quoted(page))) <= known
