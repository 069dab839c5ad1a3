"""The pages of the documentation: their code blocks, their links, what they put between back quotes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOP = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "ARCHITECTURE.md")
PAGES = {name: (ROOT / name).read_text(encoding="utf-8") for name in TOP} | {
    f"docs/{path.name}": path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").glob("*.md"))
}
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"\s{2,}# .*$")


@dataclass(frozen=True)
class Block:
    """A code block: its language and what it holds."""

    language: str
    text: str

    @property
    def file(self) -> str | None:
        """The name of the file that the block shows: its first line is `# NAME.yaml` or `# FOLDER/NAME.py`."""
        named = re.match(r"# (\S+\.(?:yaml|py))\n", self.text)
        return named[1] if named else None

    def commands(self) -> Iterator[str]:
        """The commands of a block of shell, without the comments that follow them."""
        if self.language not in {"sh", "console"}:
            return
        prompt = "$ " if self.language == "console" else ""
        for line in self.text.replace("\\\n", "").splitlines():
            if line.startswith(prompt):
                yield _COMMENT.sub("", line.removeprefix(prompt))


def blocks(page: str) -> list[Block]:
    """The code blocks of a page, in order."""
    return [Block(*found) for found in _BLOCK.findall(PAGES[page])]


def prose(page: str) -> str:
    """A page without its code blocks."""
    return _BLOCK.sub("", PAGES[page])


def quoted(page: str) -> set[str]:
    """What stands between back quotes in the text of a page."""
    return set(re.findall(r"`([^`\n]+)`", prose(page)))


def anchors(text: str) -> set[str]:
    """What `#…` may name: the headings, as GitHub makes anchors of them."""
    headings = re.findall(r"^#+ +(.+?) *$", _BLOCK.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
