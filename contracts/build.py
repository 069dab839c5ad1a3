"""Compile the contracts with the pinned Solidity compiler and write, or check, the committed artifacts.

`npm --prefix contracts ci` installs the compiler first. `python contracts/build.py` rewrites contracts/artifacts;
`python contracts/build.py --check` compares them byte for byte and exits with 1 where they differ.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TypedDict

HERE = Path(__file__).resolve().parent
SOURCES = HERE / "src"
ARTIFACTS = HERE / "artifacts"
COMPILER = HERE / "node_modules" / "solc" / "solc.js"
CONTRACTS = ("AccountConfig", "AppAuthorisation", "ContractWallet")

# EIP-170
MAX_CODE_SIZE = 24_576

# No metadata in the bytecode: it would carry a hash over paths and comments.
SETTINGS = {
    "evmVersion": "cancun",
    "metadata": {"appendCBOR": False, "bytecodeHash": "none"},
    "optimizer": {"enabled": True, "runs": 200},
    "outputSelection": {"*": {"*": ["abi", "evm.bytecode.object", "evm.deployedBytecode.object"]}},
    "viaIR": True,
}


def main() -> int:
    """Build or check, as the command line says; the exit code."""
    parser = argparse.ArgumentParser(description="Compile the contracts and write contracts/artifacts.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if an artifact is out of date")
    arguments = parser.parse_args()
    try:
        artifacts = compile_artifacts()
    except BuildError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    if arguments.check:
        return _check(artifacts)
    ARTIFACTS.mkdir(exist_ok=True)
    for name, text in artifacts.items():
        (ARTIFACTS / name).write_text(text, encoding="utf-8")
    return 0


class Compiled(TypedDict):
    """What the compiler says about one contract; the keys of `evm` are the two kinds of bytecode."""

    abi: list[object]
    evm: dict[str, dict[str, str]]


class BuildError(Exception):
    """The contracts cannot be built; the message says why and what to do."""


def compile_artifacts() -> dict[str, str]:
    """Artifact text by file name, from all Solidity files."""
    files = {path.name: path.read_text(encoding="utf-8") for path in sorted(SOURCES.glob("*.sol"))}
    request = {
        "language": "Solidity",
        "settings": SETTINGS,
        "sources": {f"src/{name}": {"content": text} for name, text in files.items()},
    }
    output = json.loads(_solc("--standard-json", source=json.dumps(request)))
    # Warnings stop the build too.
    if complaints := [error["formattedMessage"] for error in output.get("errors", [])]:
        raise BuildError("\n".join(complaints))
    version = _solc("--version").strip()
    return {
        f"{name}.json": _artifact(name, output["contracts"][f"src/{name}.sol"][name], version) for name in CONTRACTS
    }


def _artifact(name: str, compiled: Compiled, version: str) -> str:
    bytecode, deployed_bytecode = (compiled["evm"][kind]["object"] for kind in ("bytecode", "deployedBytecode"))
    size = len(deployed_bytecode) // 2
    if size > MAX_CODE_SIZE:
        raise BuildError(f"{name} is {size} bytes; a contract may have {MAX_CODE_SIZE}. Make it smaller.")
    settings = {key: value for key, value in SETTINGS.items() if key != "outputSelection"}
    content = {
        "abi": compiled["abi"],
        "bytecode": f"0x{bytecode}",
        "compiler": {"settings": settings, "version": version},
        "contractName": name,
        "deployedBytecode": f"0x{deployed_bytecode}",
    }
    return json.dumps(content, indent=2, sort_keys=True) + "\n"


def _solc(option: str, source: str = "") -> str:
    node = shutil.which("node")
    if node is None or not COMPILER.exists():
        raise BuildError("The Solidity compiler is not installed. Install Node.js, then: npm --prefix contracts ci")
    # solc.js waits for no pipe: it ends before its output is through, and fails where its input is not there yet.
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8") as stdin,
        tempfile.TemporaryFile("w+", encoding="utf-8") as stdout,
    ):
        stdin.write(source)
        stdin.seek(0)
        command = [node, str(COMPILER), option]
        # The command holds no input from outside.
        result = subprocess.run(  # noqa: S603
            command, stdin=stdin, stdout=stdout, stderr=subprocess.PIPE, text=True, check=False
        )
        stdout.seek(0)
        lines = stdout.readlines()
    if result.returncode != 0:
        raise BuildError(f"solc {option} failed:\n{result.stderr}")
    # solc.js may announce its SMT solver before the JSON.
    return "".join(line for line in lines if not line.startswith(">>>"))


def _check(artifacts: dict[str, str]) -> int:
    outdated = [ARTIFACTS / name for name, text in artifacts.items() if not _same(ARTIFACTS / name, text)]
    for path in outdated:
        sys.stderr.write(f"{path} is not what the sources compile to. Rebuild: python contracts/build.py\n")
    return 1 if outdated else 0


def _same(path: Path, text: str) -> bool:
    return path.exists() and path.read_bytes() == text.encode()


if __name__ == "__main__":
    sys.exit(main())
