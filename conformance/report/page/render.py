"""Renders the page. All text from a node is escaped, and the content security policy allows only the page's script."""

from __future__ import annotations

import base64
import hashlib
from importlib import resources

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from conformance.report.causes import counted, numbered
from conformance.report.page.view import CELL_WORDS, View
from conformance.report.results import Results
from conformance.report.write import results_text

MOST_CHARACTERS = 2_000
"""The longest request or body on the page."""


def html(results: Results) -> str:
    """The page, as one HTML document."""
    environment = Environment(
        loader=PackageLoader("conformance.report.page", "."),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters |= {"slug": slug, "cut": cut}
    style, script = _asset("page.css"), _asset("page.js")
    return environment.get_template("page.html.jinja").render(
        view=View(results),
        results=results,
        digest=hashlib.sha256(results_text(results).encode()).hexdigest(),
        cell_words=CELL_WORDS,
        counted=counted,
        numbers=numbered(results),
        style=Markup(style),  # noqa: S704 - our own file
        script=Markup(script),  # noqa: S704
        policy=f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'",
    )


def slug(text: str) -> str:
    """A verdict as the name of a CSS class."""
    return text.replace(" ", "-")


def cut(text: str) -> str:
    """Cut a text of the node to `MOST_CHARACTERS`."""
    left_out = len(text) - MOST_CHARACTERS
    return text if left_out <= 0 else f"{text[:MOST_CHARACTERS]}… ({left_out} more characters; results.json has them)"


def _asset(name: str) -> str:
    return resources.files("conformance.report.page").joinpath(name).read_text("utf-8")


def _hash(content: str) -> str:
    """The hash source of a style or a script for a content security policy (CSP level 3, section 2.3.1)."""
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
