"""Pages in headless Chromium: their content once scripts have run, and what axe-core finds there."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

JS = Path(__file__).resolve().parents[1] / "js"
AXE = JS / "node_modules" / "axe-core" / "axe.min.js"
DARK = "--blink-settings=preferredColorScheme=0"

LOOK = """
document.querySelectorAll("details").forEach((part) => { part.open = true; });
axe.run().then((found) => {
  document.title = "looked";
  document.body.textContent = JSON.stringify(found.violations.map((one) => [one.id, one.nodes.map((n) => n.html)]));
});
"""


def absent(advice: str) -> None:
    """Skip a test, or fail it in CI, for want of a program."""
    if os.environ.get("CI"):
        pytest.fail(advice)
    pytest.skip(advice)


def browsed(page: Path, folder: Path, *flags: str, fragment: str = "") -> str:
    """The content of a page once its scripts have run. The browser keeps its own files in the folder."""
    browser = shutil.which("chromium")
    if browser is None:
        absent("chromium is missing: install the Debian package chromium")
    quiet = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    command = [str(browser), *quiet, f"--user-data-dir={folder / 'browser'}", "--virtual-time-budget=60000", *flags]
    shown = subprocess.run(  # noqa: S603 - a browser on our own page
        [*command, "--dump-dom", page.as_uri() + fragment], capture_output=True, text=True, timeout=600, check=True
    )
    return shown.stdout


def violations(page: Path, folder: Path, *flags: str) -> list[object]:
    """What axe-core finds on a page: on a copy beside it, without the policy that forbids other scripts."""
    if not AXE.exists():
        absent("axe-core is missing: run `npm --prefix tests/js ci`")
    text = re.sub(r"<meta http-equiv=[^>]*>", "", page.read_text("utf-8"))
    axe = AXE.read_text("utf-8").replace("</script", r"<\/script")
    copy = page.with_name(f"looked-at-{page.name}")
    copy.write_text(text.replace("</body>", f"<script>{axe}</script><script>{LOOK}</script></body>"), encoding="utf-8")
    shown = browsed(copy, folder, *flags)
    copy.unlink()
    assert "<title>looked</title>" in shown
    body = re.search(r"<body[^>]*>(.*)</body>", shown, re.DOTALL)
    assert body is not None
    found = json.loads(html.unescape(body[1]))
    assert isinstance(found, list)
    return found
