"""Writes the pages of a site. Text from results is escaped, and pages load and run nothing from elsewhere."""

from __future__ import annotations

from pathlib import Path

from conformance.report.compare import MEANINGS, Change
from conformance.report.judgement import Judgement
from conformance.report.page import html
from conformance.report.page.render import asset, environment, inlined
from conformance.report.site.board import Board, Node, Run, families
from conformance.report.write import write_whole

INDEX = "index.html"
WORDS = {True: "conforms", False: "does not conform", None: "no verdict"}
"""The verdict on a node."""
CLASSES = {True: "conforms", False: "departs", None: "inconclusive"}


def write_site(board: Board, folder: Path) -> Path:
    """Write the site into a folder, which is made if necessary; the page to open. Raises OSError.

    Files of earlier sites are replaced where they have the same name, and else left.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for node in board.nodes:
        (folder / node.folder).mkdir(exist_ok=True)
        for run in node.runs:
            write_whole(folder / run.page, html(run.results, _links(run)))
            write_whole(folder / node.folder / f"{run.stem}.json", run.content.decode())
            if run.mark is not None:
                write_whole(folder / run.statement, run.mark.content.decode())
        write_whole(folder / node.folder / INDEX, _history(node))
    write_whole(folder / INDEX, _index(board))
    return folder / INDEX


def _links(run: Run) -> list[tuple[str, str]]:
    links = [("All nodes", f"../{INDEX}"), (f"History of {run.node}", INDEX), ("results.json", f"{run.stem}.json")]
    return links + ([(f"statement of {run.mark.signer}", f"{run.stem}.statement.json")] if run.mark else [])


def _index(board: Board) -> str:
    return _page("index.html.jinja", "", board=board, runs=board.latest, families=families(board.latest))


def _history(node: Node) -> str:
    runs = node.runs[::-1]
    changed = [family for one in families(runs) if (family := one.differing()).rows]
    return _page("node.html.jinja", "../", node=node, runs=runs, families=changed)


def _page(template: str, root: str, **shown: object) -> str:
    """A page; `root` leads from it to the root of the site."""
    style = asset("page", "page.css") + asset("site", "site.css")
    return (
        environment()
        .get_template(f"site/{template}")
        .render(
            **shown,
            **inlined(style, asset("site", "site.js")),
            root=root,
            verdict=_verdict,
            words=WORDS,
            classes=CLASSES,
            Judgement=Judgement,
            Change=Change,
            meanings=MEANINGS,
        )
    )


def _verdict(run: Run) -> bool | None:
    """Whether the node conforms; None where the run was inconclusive."""
    return True if run.results.conforms else False if run.results.exit_code == 1 else None
