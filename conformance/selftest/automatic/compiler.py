"""The Solidity compiler of the contracts' folder, for sources that are changed: many in one process of Node.js."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import TypedDict

from reference_node.resources import PACKAGE, artifacts

CONTRACT = "AccountConfig"

ENTRY = f"src/{CONTRACT}.sol"

SCRIPT = """
const solc = require(process.argv[1]);
for (const request of JSON.parse(require('fs').readFileSync(0, 'utf8')))
  console.log('=' + solc.compile(JSON.stringify(request)));
"""
"""Compiles a list of requests and answers with a line for each. Loading the compiler takes seconds."""

MISSING = "needs Node.js and, in a checkout of the project, the Solidity compiler: npm --prefix contracts ci"


class Output(TypedDict, total=False):
    """The parts of the compiler's answer that are asked for."""

    sources: dict[str, dict[str, dict[str, object]]]
    contracts: dict[str, dict[str, dict[str, dict[str, dict[str, str]]]]]


@dataclass(frozen=True)
class Compiler:
    """The sources of the account contract and the compiler beside them."""

    folder: Path
    node: str

    @classmethod
    def found(cls) -> Compiler | None:
        """The compiler of the checkout around this package or of the working directory; None if it is absent."""
        node = shutil.which("node")
        for folder in (PACKAGE.parent / "contracts", Path.cwd() / "contracts"):
            if node and (folder / "node_modules" / "solc").is_dir() and (folder / "src").is_dir():
                return cls(folder, node)
        return None

    def sources(self) -> dict[Path, bytes]:
        """The Solidity files by path."""
        return {path: path.read_bytes() for path in sorted((self.folder / "src").glob("*.sol"))}

    def trees(self) -> dict[Path, dict[str, object]]:
        """The syntax tree of each file."""
        request = self._request({}, {"outputSelection": {"*": {"": ["ast"]}}})
        (output,) = self._compiled([request])
        return {path: output["sources"][f"src/{path.name}"]["ast"] for path in self.sources()}

    def creation_codes(self, altered: Sequence[Mapping[Path, bytes]]) -> Iterator[str | None]:
        """The account contract's creation code (hex) for each set of altered files; None where it does not compile."""
        stated = json.loads((artifacts() / f"{CONTRACT}.json").read_text("utf-8"))["compiler"]["settings"]
        settings = {**stated, "outputSelection": {ENTRY: {CONTRACT: ["evm.bytecode.object"]}}}
        for output in self._compiled([self._request(files, settings) for files in altered]):
            contract = output.get("contracts", {}).get(ENTRY, {}).get(CONTRACT)
            yield f"0x{contract['evm']['bytecode']['object']}" if contract else None

    def _request(self, altered: Mapping[Path, bytes], settings: Mapping[str, object]) -> dict[str, object]:
        sources = {
            f"src/{path.name}": {"content": code.decode()} for path, code in {**self.sources(), **altered}.items()
        }
        return {"language": "Solidity", "settings": settings, "sources": sources}

    def _compiled(self, requests: Sequence[Mapping[str, object]]) -> Iterator[Output]:
        """The answer to each request as soon as it comes."""
        command = [self.node, "-e", SCRIPT, str((self.folder / "node_modules" / "solc").resolve())]
        with TemporaryFile("w+", encoding="utf-8") as asked:
            json.dump(requests, asked)
            asked.seek(0)
            process = subprocess.Popen(  # noqa: S603 - the command holds no input from outside
                command, stdin=asked, stdout=subprocess.PIPE, text=True
            )
        with process:
            try:
                # Other lines are the compiler's own, for example about its SMT solver.
                yield from (json.loads(line[1:]) for line in process.stdout or () if line.startswith("="))
            except GeneratorExit:
                process.kill()
                raise
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, command[:1])
