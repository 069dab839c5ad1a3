"""The templates for GitLab and Jenkins, taken apart."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tree_sitter_groovy
import yaml
from tree_sitter import Language, Node, Parser

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = ROOT / "examples" / "ci"


def gitlab_job() -> dict[str, Any]:
    """The job for GitLab."""
    job: dict[str, Any] = yaml.safe_load((TEMPLATES / "gitlab.yml").read_text(encoding="utf-8"))["conformance"]
    return job


def jenkinsfile() -> Node:
    """The pipeline for Jenkins, as a tree of Groovy's grammar."""
    parser = Parser(Language(tree_sitter_groovy.language()))
    return parser.parse((TEMPLATES / "Jenkinsfile").read_bytes()).root_node


def below(node: Node) -> Iterator[Node]:
    """A node of the tree, and all below it, in the order of the text."""
    yield node
    for child in node.children:
        yield from below(child)


def block(name: str) -> Node:
    """What stands in the braces after a name."""
    found = [
        node.child_by_field_name("body")
        for node in below(jenkinsfile())
        if node.type == "method_invocation" and text(node.child_by_field_name("name")) == name
    ]
    (only,) = found
    assert only is not None
    return only


def text(node: Node | None) -> str:
    """The text of a node; empty without one."""
    return "" if node is None or node.text is None else node.text.decode()


def literal(node: Node) -> str:
    """The value of a string in single quotes, one or three."""
    quotes = "'''" if text(node).startswith("'''") else "'"
    return textwrap.dedent(text(node).removeprefix(quotes).removesuffix(quotes)).replace("\\\\", "\\")


def jenkins_shells() -> tuple[dict[str, str], list[str], list[str]]:
    """The environment of the pipeline, the scripts of its stages, and those that it always runs at the end."""
    environment = {
        text(node.child_by_field_name("left")): literal(right)
        for node in below(block("environment"))
        if node.type == "assignment_expression" and (right := node.child_by_field_name("right"))
    }
    return environment, _scripts(block("stages")), _scripts(block("always"))


def _scripts(node: Node) -> list[str]:
    return [literal(one) for one in below(node) if one.type == "string_literal" and text(one).startswith("'''")]
