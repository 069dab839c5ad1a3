"""``service-conformance run``: judge a node."""

from __future__ import annotations

import argparse
import re

from conformance.run.options import REPORT, SPELLINGS, Options, add_options, folder


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    groups = {title: parser.add_argument_group(title) for title in _titles()}
    add_options(lambda title: groups[title].add_argument)
    groups[REPORT].add_argument("--alluredir", metavar="DIR", type=folder, help="write Allure results there")
    groups[REPORT].add_argument(
        "--allure-link-pattern",
        action="append",
        default=[],
        metavar="TYPE:URL",
        type=link_pattern,
        help="where Allure's links of the type requirement or clause lead, with {} for its name (repeatable)",
    )
    parser.set_defaults(handle=_run)


def _titles() -> list[str]:
    """Of the groups of options, in the order of the table."""
    return list(dict.fromkeys(spelling.group for spelling in SPELLINGS.values()))


def _run(arguments: argparse.Namespace) -> int:
    from conformance.run.front import run  # noqa: PLC0415 - `--help` answers without what judges a node

    return run(Options.of(arguments), arguments.alluredir, arguments.allure_link_pattern)


def link_pattern(text: str) -> str:
    """An argparse type: the type of a link, and its address with a place for the name."""
    if not re.fullmatch(r"(requirement|clause):.*\{\}.*", text):
        raise argparse.ArgumentTypeError(f"is like requirement:https://…/{{}} or clause:https://…#{{}}, unlike {text}")
    return text
