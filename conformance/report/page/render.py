"""Renders the page. All text from a node is escaped, and the content security policy allows only the page's script."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from importlib import resources

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from conformance.report.case_text import rows, story_of
from conformance.report.causes import counted, numbered
from conformance.report.judgement import MEANINGS
from conformance.report.page.view import CELL_WORDS, View
from conformance.report.results import Results
from conformance.values.shown_text import escaped

MOST_CHARACTERS = 2_000
"""The longest request or body on the page."""


def html(results: Results, links: Sequence[tuple[str, str]] = ()) -> str:
    """The page, as one HTML document. `links` lead to pages beside it: their names and their relative addresses."""
    style, script = asset("page", "page.css"), asset("page", "page.js")
    return (
        environment()
        .get_template("page/page.html.jinja")
        .render(
            view=View(results),
            results=results,
            links=links,
            digest=hashlib.sha256(results.content).hexdigest(),
            cell_words=CELL_WORDS,
            counted=counted,
            meanings=MEANINGS,
            rows=rows,
            numbers=numbered(results),
            **inlined(style, script),
        )
    )


def environment() -> Environment:
    """The templates of the page and of the site, all of which escape what they are given."""
    made = Environment(
        loader=PackageLoader("conformance.report", "."),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        finalize=_finalized,
    )
    made.filters |= {"slug": slug, "cut": cut, "story": story_of}
    return made


def _finalized(value: object) -> object:
    """What a template writes: texts without characters that reorder what stands beside them."""
    return escaped(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def inlined(style: str, script: str) -> dict[str, str]:
    """What a template needs to hold a style and a script, and a policy that allows no others."""
    policy = f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'"
    return {"style": Markup(style), "script": Markup(script), "policy": policy}  # noqa: S704 - our own files


def slug(text: str) -> str:
    """A verdict as the name of a CSS class."""
    return text.replace(" ", "-")


def cut(text: str) -> str:
    """Cut a text of the node to `MOST_CHARACTERS`."""
    left_out = len(text) - MOST_CHARACTERS
    return text if left_out <= 0 else f"{text[:MOST_CHARACTERS]}… ({left_out} more characters; results.json has them)"


def asset(folder: str, name: str) -> str:
    """A file of the page or the site."""
    return resources.files("conformance.report").joinpath(folder, name).read_text("utf-8")


def _hash(content: str) -> str:
    """The hash source of a style or a script for a content security policy (CSP level 3, section 2.3.1)."""
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
