"""Pages in headless Chromium: what their scripts make of them, what axe-core finds there, and what a click does."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

from programs import absent

JS = Path(__file__).resolve().parent / "js"
AXE = JS / "node_modules" / "axe-core" / "axe.min.js"
DARK = "--blink-settings=preferredColorScheme=0"

LOOK = """
document.querySelectorAll("details").forEach((part) => { part.open = true; });
axe.run().then((found) => {
  document.title = "looked";
  document.body.textContent = JSON.stringify(found.violations.map((one) => [one.id, one.nodes.map((n) => n.html)]));
});
"""


def browser() -> str:
    """The program itself."""
    found = shutil.which("chromium")
    if found is None:
        absent("chromium is missing: install the Debian package chromium")
    return str(found)


def browsed(page: Path | str, folder: Path, *flags: str, fragment: str = "") -> str:
    """The content of a file or an address once its scripts have run. The browser keeps its own files in the folder."""
    quiet = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    command = [browser(), *quiet, f"--user-data-dir={folder / 'browser'}", "--virtual-time-budget=60000", *flags]
    address = page.as_uri() if isinstance(page, Path) else page
    shown = subprocess.run(  # noqa: S603 - a browser on our own page
        [*command, "--dump-dom", address + fragment], capture_output=True, text=True, timeout=600, check=True
    )
    return shown.stdout


WIDTHS = (320, 390, 768, 1280)
"""Of phones, a tablet and a desktop, in px."""
OUTSIDE = """
const outside = (frame) => {
  const page = frame.contentDocument, found = [];
  page.querySelectorAll("details").forEach((part) => { part.open = true; });
  const sees = (part) => part.getClientRects().length > 0;
  for (const part of page.querySelectorAll("p, li, dt, dd, td, th, h1, h2, h3, summary, caption, pre, label")) {
    if (!sees(part)) continue;
    const box = part.getBoundingClientRect(), inside = page.createRange();
    inside.selectNodeContents(part);
    for (const one of inside.getClientRects())
      if (one.left < box.left - 1 || one.right > box.right + 1 || one.bottom > box.bottom + 2) {
        found.push(part.tagName + ": " + part.textContent.slice(0, 60));
        break;
      }
  }
  const wide = page.documentElement.scrollWidth;
  if (wide > frame.clientWidth) found.push(`the page is ${wide} px wide`);
  return found.map((one) => `at ${frame.clientWidth} px ${one}`);
};
addEventListener("load", () => {
  const found = [...document.querySelectorAll("iframe")].flatMap(outside);
  document.body.textContent = JSON.stringify(found);
  document.title = "measured";
});
"""


def outside(page: Path, folder: Path, *flags: str, printed: bool = False) -> list[str]:
    """The cells and paragraphs whose text leaves their box at one of the widths, and the page where it is wider.

    `printed` measures it in its style for paper, on a screen.
    """
    text = re.sub(r"<meta http-equiv=[^>]*>", "", page.read_text("utf-8"))
    copy, frame = page.with_name(f"measured-{page.name}"), page.with_name(f"frame-{page.name}")
    copy.write_text(text.replace("@media print", "@media all") if printed else text, encoding="utf-8")
    frames = (f'<iframe src="{copy.name}" width="{width}" height="900" style="border: 0"></iframe>' for width in WIDTHS)
    frame.write_text(f"<!doctype html><body>{''.join(frames)}<script>{OUTSIDE}</script></body>", encoding="utf-8")
    shown = browsed(frame, folder, "--allow-file-access-from-files", *flags)
    copy.unlink()
    frame.unlink()
    assert "<title>measured</title>" in shown
    body = re.search(r"<body[^>]*>(.*)</body>", shown, re.DOTALL)
    assert body is not None
    found: list[str] = json.loads(html.unescape(body[1]))
    return found


def clicked(script: str, address: str) -> Any:
    """What a script of `tests/js` does to the page at this address, and the errors that its console shows."""
    node = shutil.which("node")
    if node is None or not (JS / "node_modules" / "playwright-core").is_dir():
        absent("playwright-core is missing: run `npm --prefix tests/js ci`")
    done = subprocess.run(  # noqa: S603 - our own script
        [str(node), str(JS / script), browser(), address], capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


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
