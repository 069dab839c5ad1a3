"""Makes the pictures of docs/ from pages of made-up runs: ``python tests/documentation/pictures.py``.

Each picture holds the digest of the page that it shows, so that a test tells when the page looks otherwise by now.
"""

from __future__ import annotations

import hashlib
import struct
import subprocess
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from conformance.profile import Profile
from conformance.report import Results, RunRecord, results_of
from conformance.report.page import html
from conformance.report.site import collect, write_site
from conformance.report.write import write_results
from conformance.requirements import Catalogue, Uncovered, catalogue
from conformance.verdict import Conversation, ConversationExchange, Failure, Outcome, Verdict

DOCS = Path(__file__).resolve().parents[2] / "docs"
SOURCE = b"Source"
"""The keyword of the text in a PNG file that holds the digest of the page (PNG specification, 11.3.3)."""
SIGNATURE = b"\x89PNG\r\n\x1a\n"
SHOWN = ("ACT-060", "EP-290", "GRP-020", "GRP-090", "LIST-010", "UKEY-270")
"""The statements of the made-up runs."""
CID = "QmQAYieaLxqyeG7YEDdmX18snVCx2kBgXB9Pt6iDYo3JKs"
HASH = "0xd31e8141f2931c227b3dc7fdab36f64af48042b2eaa52b5731cd1b8a12fa5919"
OLD, NEW = (f'[{{"hashed_cid":"{HASH}","name":"{name}"}}]' for name in ("renamed", "anew"))


@dataclass(frozen=True)
class Picture:
    """A picture: its page, and its size in px."""

    page: str
    width: int
    height: int

    @property
    def digest(self) -> str:
        """The SHA-256 of the page."""
        return hashlib.sha256(self.page.encode()).hexdigest()


def pictures() -> Mapping[str, Picture]:
    """The pictures by the names of their files."""
    return {"report.png": Picture(html(_departing()), 900, 950), "board.png": Picture(_board(), 1100, 700)}


def _departing() -> Results:
    """The run of a node that brings back the name of a deleted action."""
    made = {"API_KEY_1": ".api_key"}
    steps = (
        ("new_account", '{"account_description":"alice of a conformance case"}', "{}", made),
        ("add_action", f'{{"action_ipfs_cid":"{CID}","name":"first"}}', "{}", {}),
        ("update_action_metadata", f'{{"hashed_cid":"{HASH}","name":"renamed"}}', "{}", {}),
        ("delete_action", f'{{"hashed_cid":"{HASH}"}}', "{}", {}),
        ("add_action", f'{{"action_ipfs_cid":"{CID}","name":"anew"}}', "{}", {}),
        ("list_actions", "{}", OLD, {}),
    )
    exchanges = tuple(
        ConversationExchange(
            method="POST",
            url=f"https://node.example.com/core/v1/{operation}",
            request_headers={} if given else {"X-Api-Key": "${API_KEY_1}"},
            request_body=body,
            status=200,
            response_body=answer,
            seconds=0.02,
            given=dict(given),
            operation=operation,
        )
        for operation, body, answer, given in steps
    )
    expected = f"an action that was deleted and added anew shows its new name: in any order {NEW} of list_actions"
    failure = Failure("steps[12] list list_actions", expected, OLD, conversation=Conversation(exchanges))
    title = "Action metadata are registered, listed under the hash of the CID, updated and deleted"
    failed = Outcome(
        "endpoints::action-metadata", title, ("EP-290", "ACT-060"), Verdict.FAIL,
        f"a value is not as expected: expected {expected}; got {OLD}",
        failure=failure, exchanges=17, seconds=0.3, contradicted=("EP-290",),
    )  # fmt: skip
    return _results("https://node.example.com", failed, "EP-290")


def _results(node: str, failed: Outcome | None, *broken: str, offered: int = len(SHOWN)) -> Results:
    """The results of a run in which the cases of the other statements passed, those of the last were not offered."""
    cases = {name: f"{name.partition('-')[0].lower()}::shown-{name[-3:]}" for name in SHOWN if name not in broken}
    outcomes = [
        Outcome(case, "As the statement says", (name,), verdict, reason, exchanges=4, seconds=0.1)
        for number, (name, case) in enumerate(cases.items())
        for verdict, reason in [
            (Verdict.PASS, "") if number < offered else (Verdict.NOT_OFFERED, "it needs the capability chain_rpc")
        ]
    ]
    outcomes += [failed] if failed else []
    checks = {name: tuple(one.case for one in outcomes if name in one.requirements) for name in SHOWN}
    run = RunRecord(
        base_url=node,
        bundled=False,
        profile=Profile(),
        profile_source="my-node.yaml",
        seed="67506444",
        started=datetime(2026, 11, 27, 12, 0, 0, tzinfo=UTC),
        finished=datetime(2026, 11, 27, 12, 1, 52, tzinfo=UTC),
        outcomes=tuple(outcomes),
        checks=checks,
        rerun=(),
    )
    results = results_of(run, _shown(), Uncovered())
    of_today = {
        "suite": results.suite.model_copy(update={"version": "1.0.0"}),
        "profile": results.profile.model_copy(update={"content": {}, "sha256": hashlib.sha256(b"").hexdigest()}),
        "environment": "Python 3.11, Linux x86_64",
    }
    return results.model_copy(update=of_today)  # what changes with every release and every key changes no picture


def _shown() -> Catalogue:
    """The catalogue with these statements alone."""
    return catalogue().model_copy(
        update={
            "requirements": tuple(catalogue().by_id[name] for name in SHOWN),
            "tensions": (),
            "restatements": {},
        }
    )


def _board() -> str:
    """The index of a site with three nodes, one of which departs."""
    nodes = {
        "our-node/1.0": _departing(),
        "our-node/1.1": _results("https://node.example.com", None),
        "third-node/2026-11": _departing(),
        "other-node/7": _results("https://other.example.com", None, offered=4),
    }
    with tempfile.TemporaryDirectory() as folder:
        for name, results in nodes.items():
            (Path(folder) / "runs" / name).mkdir(parents=True)
            write_results(results, Path(folder) / "runs" / name)
        return write_site(collect([Path(folder) / "runs"]), Path(folder) / "site").read_text("utf-8")


def digest_in(png: bytes) -> str:
    """The digest of the page that a picture shows; empty where it names none."""
    for kind, content in _chunks(png):
        keyword, _, text = content.partition(b"\0")
        if kind == b"tEXt" and keyword == SOURCE:
            return text.decode("latin-1")
    return ""


def _chunks(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = len(SIGNATURE)
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        yield png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        at += 12 + length


def _with_digest(png: bytes, digest: str) -> bytes:
    """A picture with the digest behind its header."""
    content = b"tEXt" + SOURCE + b"\0" + digest.encode()
    chunk = struct.pack(">I", len(content) - 4) + content + struct.pack(">I", zlib.crc32(content))
    after = len(SIGNATURE) + 25  # a header has 13 bytes, with its length, kind and checksum 25
    return png[:after] + chunk + png[after:]


def _photographed(picture: Picture, folder: Path) -> bytes:
    page, shot = folder / "page.html", folder / "shot.png"
    page.write_text(picture.page, encoding="utf-8")
    subprocess.run(  # noqa: S603 - a browser on our own page
        [  # noqa: S607 - the one of the machine
            "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
            f"--user-data-dir={folder / 'browser'}", f"--screenshot={shot}",
            f"--window-size={picture.width},{picture.height}", page.as_uri(),
        ],
        capture_output=True, check=True, timeout=120,
    )  # fmt: skip
    return shot.read_bytes()


if __name__ == "__main__":
    for name, picture in pictures().items():
        with tempfile.TemporaryDirectory() as folder:
            (DOCS / name).write_bytes(_with_digest(_photographed(picture, Path(folder)), picture.digest))
