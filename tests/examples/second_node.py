"""The second node, `examples/node-typescript`: compiled, and served for a test."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "node-typescript"
COMPILER = EXAMPLE / "node_modules" / "typescript" / "bin" / "tsc"


def compiled(folder: Path) -> Path:
    """The program of the node, compiled into a folder of its own unless it is there."""
    program = folder / "dist" / "main.js"
    if not program.exists():
        folder.mkdir()
        for beside in ("package.json", "node_modules"):
            (folder / beside).symlink_to(EXAMPLE / beside)
        done = node(COMPILER, "--project", EXAMPLE, "--outDir", program.parent, "--noEmitOnError")
        assert done.returncode == 0, done.stdout
    return program


def node(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run Node.js with these arguments to its end."""
    command = ["node", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)  # noqa: S603 - our own


@contextmanager
def serving(program: Path, *options: str) -> Iterator[str]:
    """The address of a fresh node, on a free port."""
    command = ["node", str(program), "--port", "0", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)  # noqa: S603 - built above
    assert process.stdout is not None
    with process.stdout:
        try:
            yield process.stdout.readline().removeprefix("listening on ").strip()
        finally:
            process.terminate()
            process.wait()
