"""The globals of scripts, held against Node.js; and libraries that are loaded for all of them."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from eth_account import Account
from eth_account.messages import encode_defunct
from programs import absent
from running import ACCOUNT, evaluated, failed, no_wallets, returned, run

from reference_node.sandbox import Limits, Sandbox, SandboxUnavailable
from reference_node.sandbox.limits import MIB

PROBE = Path(__file__).with_name("globals.js")
ETHERS = Path(__file__).resolve().parents[2] / "js" / "node_modules" / "ethers" / "dist" / "ethers.umd.min.js"
KEY = "0x" + "11" * 32


def in_node() -> dict[str, Any]:
    """What the probe finds in Node.js."""
    node = shutil.which("node")
    if node is None:
        absent("Node.js is missing: install it")
    code = f"{PROBE.read_text()}\nmain().then((found) => console.log(JSON.stringify(found)));"
    done = subprocess.run([str(node), "-e", code], capture_output=True, text=True, check=True)  # noqa: S603 - our own script
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_globals_do_what_they_do_in_node(sandbox: Sandbox) -> None:
    ours = returned(run(sandbox, PROBE.read_text()))
    theirs = in_node()
    assert len(theirs) > 200
    assert {name: ours.get(name) for name in theirs} == theirs


def test_globals_that_are_missing_are_the_documented_ones(sandbox: Sandbox) -> None:
    names = "fetch process require WebAssembly Intl Worker Buffer WebSocket localStorage module"
    assert evaluated(sandbox, f"'{names}'.split(' ').filter((name) => name in globalThis)") == []
    assert evaluated(sandbox, "Object.keys(console)") == ["log", "info", "warn", "error", "debug"]
    assert evaluated(sandbox, "crypto.subtle === undefined") is True


@pytest.mark.parametrize("code", ["import('os')", "import('std')", "import('/etc/passwd')"])
def test_modules_can_not_be_imported(sandbox: Sandbox, code: str) -> None:
    assert run(sandbox, f"async function main() {{ return await {code} }}").has_error


def test_library_is_there_in_every_run(tmp_path: Path) -> None:
    first, second = tmp_path / "first.js", tmp_path / "second.js"
    first.write_text("var greet = (name) => `hello ${name}`; const counter = { runs: 0 }; console.log('not heard')")
    second.write_text("globalThis.twice = (name) => greet(greet(name))")
    with Sandbox(preload=[first, second]) as sandbox:
        for _ in range(3):
            result = run(sandbox, "async function main() { counter.runs++; return [twice('you'), counter.runs] }")
            assert returned(result) == ["hello hello you", 1]
            assert result.logs == ""


def test_library_does_not_use_up_the_memory_of_runs(tmp_path: Path) -> None:
    library = tmp_path / "large.js"
    library.write_text("var large = new Uint8Array(20 * 1024 * 1024).fill(1)")
    with Sandbox(Limits(memory_bytes=8 * MIB), preload=[library]) as sandbox:
        assert (
            returned(run(sandbox, "async function main() { return new Uint8Array(7 << 20).length + large[5] }"))
            == (7 << 20) + 1
        )
        assert failed(run(sandbox, "const all = []; for (;;) all.push({})")) == "out of memory: the limit is 8 MiB"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (b"const x = ;", "library.js can't be preloaded: .*SyntaxError"),
        (b"throw new Error('no')", "library.js can't be preloaded: .*Error: no"),
        (b"\xff", "library.js can't be preloaded: "),
        (None, "library.js can't be preloaded: "),
    ],
)
def test_library_that_does_not_load_is_named(text: bytes | None, fault: str, tmp_path: Path) -> None:
    library = tmp_path / "library.js"
    if text is not None:
        library.write_bytes(text)
    with Sandbox(preload=[library]) as sandbox, pytest.raises(SandboxUnavailable, match=f"(?s){fault}"):
        sandbox.start()


def test_ethers_signs_in_the_sandbox() -> None:
    if not ETHERS.is_file():
        absent("ethers is missing: run `npm --prefix tests/js ci`")
    code = """async function main({ pkpId, message }) {
      const wallet = new ethers.Wallet(await Service.Actions.getPrivateKey({ pkpId }));
      const typed = await wallet.signTypedData({ name: 'd' }, { M: [{ name: 'n', type: 'uint256' }] }, { n: 1n });
      const signature = await wallet.signMessage(message);
      return { address: wallet.address, signature, typed, recovered: ethers.verifyMessage(message, signature) };
    }"""
    with Sandbox(preload=[ETHERS]) as sandbox:
        params = json.dumps({"pkpId": "0x1", "message": "héllo"})
        answer = returned(sandbox.run(code, params, lambda *_: KEY, ACCOUNT))
        assert evaluated(sandbox, "ethers.hexlify(ethers.randomBytes(8)).length") == 18
        assert run(sandbox, "async function main() { return new ethers.Wallet('no') }", host=no_wallets).has_error
    signer = Account.from_key(KEY).address
    assert answer["address"] == answer["recovered"] == signer
    assert Account.recover_message(encode_defunct(text="héllo"), signature=answer["signature"]) == signer
    assert len(answer["typed"]) == 132


def test_library_that_never_ends_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reference_node.sandbox.warm.START_SECONDS", 1.0)
    library = tmp_path / "library.js"
    library.write_text("for (;;) {}")
    with Sandbox(preload=[library]) as sandbox, pytest.raises(SandboxUnavailable, match="not ready within 1 s"):
        sandbox.start()
