"""`reference-node serve --state DIR`: everything outlives the process, however it ends."""

from __future__ import annotations

import itertools
import resource
import shutil
import signal
import sqlite3
import stat
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from actions import ECHO, ran
from envelopes import rpc
from nodes import Running, refused, serving
from processes import client, command, completed, node_process, refusal
from shops import intend, pay, payment

from reference_node.assembly import build_node
from reference_node.billing.audit import verify
from reference_node.keeping.state_folder import StateFolder
from reference_node.kept_file import StateError
from reference_node.settings import Settings

STARTER = 1_000
PRICE = 500
EVIDENCE = "/evidences/sha256sum.txt"


def settings(folder: Path, **more: Any) -> Settings:
    return Settings(port=0, state=folder, starter_credits=STARTER, control=True, **more)


def keeping(folder: Path, *more: str) -> tuple[str, ...]:
    """The options of a node with its state in this folder."""
    return ("--state", str(folder), "--starter-credits", str(STARTER), *more)


def ledger_of(folder: Path) -> Path:
    (found,) = folder.glob("accounts-*/credits.sqlite")
    return found


def seen(running: Running, account: str, secrets: list[str]) -> dict[str, object]:
    """What clients see of a node."""
    number = str(rpc(running, "eth_blockNumber"))
    return {
        "lists": running.everything(account),
        "balance": running.balance(account),
        "configuration": running.read("get_node_chain_config"),
        "payers": running.read("get_api_payers"),
        "stripe": running.read("billing/stripe_config"),
        "intents": [payment(running, secret).json() for secret in secrets],
        "logs": rpc(running, "eth_getLogs", {"fromBlock": "0x0", "toBlock": number}),
        "blocks": [rpc(running, "eth_getBlockByNumber", hex(block), True) for block in range(int(number, 16) + 1)],
        "info": running.http.get("/info").json(),
        "attestation": running.http.get("/attestation").json(),
        "evidence": running.http.get(EVIDENCE).text,
    }


def test_node_killed_and_started_again_shows_the_same(tmp_path: Path) -> None:
    options = keeping(tmp_path / "state", "--control", "--tls-domain", "node.example", "--tls-port", "0")
    with node_process(tmp_path / "ready.json", *options) as (process, ready), client(ready) as http:
        running = Running(None, http)
        account = running.account()
        wallet = running.wallet(account)
        group = running.group(account, pkp_ids_permitted=[wallet], cid_hashes_permitted=[0])
        key = running.usage_key(account, execute_in_groups=[group])
        secrets = [intend(running, account)[1] for _ in range(3)]
        assert pay(running, secrets[0]).status_code == 200
        running.done("billing/confirm_payment", account, payment_intent_id=secrets[0].partition("_secret_")[0])
        assert pay(running, secrets[1], "pm_card_chargeDeclined").status_code == 402
        http.post("/control/rotate", json={}).raise_for_status()
        http.post("/control/clock", json={"offset_seconds": 7_000}).raise_for_status()
        time_before = int(str(rpc(running, "eth_getBlockByNumber", "latest", False)["timestamp"]), 16)  # type: ignore[index]
        before = seen(running, account, secrets)
        root = ready["tls_root_certificate"]
        process.send_signal(signal.SIGKILL)
        process.wait()
    with node_process(tmp_path / "ready.json", *options) as (_, ready), client(ready) as http:
        running = Running(None, http)
        assert seen(running, account, secrets) == before
        assert ready["tls_root_certificate"] == root
        running.wallet(account)
        latest: Any = rpc(running, "eth_getBlockByNumber", "latest", False)
        assert int(latest["timestamp"], 16) - time_before >= 7_000, "the clock is as far off as before"
        assert ran(running, key, ECHO, a=7) == {"a": 7}


@dataclass
class User:
    """One who remembers what was acknowledged."""

    running: Running
    key: str = ""
    tried: list[str] = field(default_factory=list)
    done: list[str] = field(default_factory=list)
    paid: list[str] = field(default_factory=list)
    """Intents that the provider said were paid."""

    def act(self) -> None:
        """Make groups and buy credit, until the node is gone."""
        with suppress(httpx.TransportError):
            self.key = self.running.account()
            for number in range(50):
                self.tried.append(f"group {number}")
                self.running.done("add_group", self.key, group_name=self.tried[-1], group_description="")
                self.done.append(self.tried[-1])
                intent, secret = intend(self.running, self.key)
                assert pay(self.running, secret).status_code == 200
                self.paid.append(intent)
                self.running.done("billing/confirm_payment", self.key, payment_intent_id=intent)

    def check(self, running: Running) -> None:
        """What was acknowledged is there once, what was not at most once, and the credit is what both come to."""
        if not self.key:
            return
        listed = [str(group["name"]) for group in running.read("list_groups", self.key, page_size=100)]
        assert set(self.done) <= set(listed) <= set(self.tried)
        assert len(listed) == len(set(listed))
        for intent in self.paid:
            running.done("billing/confirm_payment", self.key, payment_intent_id=intent)
        bought = running.balance(self.key) - STARTER + len(listed)
        unacknowledged = bought - PRICE * len(self.paid)
        assert unacknowledged in {0, PRICE}, "a payment whose answer was lost is credited once, others once each"


@contextmanager
def killed_after(answers: int, process: subprocess.Popen[str], http: httpx.Client) -> Iterator[None]:
    """Kill the node once it has answered so many requests."""
    answered = itertools.count(1)

    def count(_: httpx.Response) -> None:
        if next(answered) == answers:
            process.send_signal(signal.SIGKILL)

    http.event_hooks = {"response": [count]}
    yield
    process.wait()


@pytest.mark.parametrize("answers", [9, 60])
def test_kill_loses_no_acknowledged_write_and_doubles_none(tmp_path: Path, answers: int) -> None:
    options = keeping(tmp_path / "state")
    with node_process(tmp_path / "ready.json", *options) as (process, ready), client(ready) as http:
        users = [User(Running(None, http)) for _ in range(4)]
        with killed_after(answers, process, http), ThreadPoolExecutor(4) as pool:
            for acting in [pool.submit(user.act) for user in users]:
                acting.result()
    assert sum(len(user.done) for user in users)
    with serving(settings(tmp_path / "state")) as running:
        for user in users:
            user.check(running)
    assert verify(ledger_of(tmp_path / "state")).faults == ()


def dying_at(step: str, file: str, passes: int) -> tuple[str, ...]:
    """The program of a node that kills itself at this step."""
    return (str(Path(__file__).with_name("dying_node.py")), step, file, str(passes))


STEPS = [
    (step, file, passes)
    for step in ("uncommitted", "committed")
    for file, passes in (("chain.sqlite", 14), ("payments.sqlite", 4), ("credits.sqlite", 12))
]


@pytest.mark.parametrize(("step", "file", "passes"), STEPS)
def test_node_that_dies_while_it_writes_goes_on(tmp_path: Path, step: str, file: str, passes: int) -> None:
    options, dying = keeping(tmp_path / "state"), dying_at(step, file, passes)
    with node_process(tmp_path / "ready", *options, program=dying) as (process, ready), client(ready) as http:
        user = User(Running(None, http))
        user.act()
        assert process.wait(60) == -signal.SIGKILL
    with serving(settings(tmp_path / "state")) as running:
        user.check(running)
    assert verify(ledger_of(tmp_path / "state")).faults == ()


@pytest.mark.parametrize(
    ("step", "file", "passes"),
    [
        ("uncommitted", "node.sqlite", 0),
        ("uncommitted", "node.sqlite", 1),  # what is on the disk then is what was committed before
        ("committed", "node.sqlite", 1),
        ("uncommitted", "chain.sqlite", 3),
    ],
)
def test_node_that_dies_at_its_first_start_starts_again(tmp_path: Path, step: str, file: str, passes: int) -> None:
    died = completed(*command(*keeping(tmp_path / "state"), program=dying_at(step, file, passes)))
    assert died.returncode == -signal.SIGKILL
    with serving(settings(tmp_path / "state")) as running:
        assert running.balance(running.account()) == STARTER
    assert len(list((tmp_path / "state").glob("accounts-*"))) == 1


def test_files_are_for_their_owner_alone(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    folder.mkdir(0o755)
    with serving(settings(folder)) as running:
        running.account()
        entries = [folder, *folder.rglob("*")]
        assert len(entries) > 6
        modes = {entry.name: stat.S_IMODE(entry.stat().st_mode) for entry in entries}
    assert set(modes.values()) == {0o600, 0o700}
    assert all((mode == 0o700) == name.startswith(("accounts-", "state")) for name, mode in modes.items())


def test_reset_forgets_what_was_kept(tmp_path: Path) -> None:
    with serving(settings(tmp_path)) as running:
        account = running.account()
        secret = intend(running, account)[1]
        running.http.post("/control/clock", json={"offset_seconds": 50}).raise_for_status()
        running.http.post("/control/reset", json={}).raise_for_status()
        fresh = running.account()
        evidence = running.http.get(EVIDENCE).text
    with serving(settings(tmp_path)) as running:
        refused(running.get("list_groups", account), 401)
        assert payment(running, secret).status_code == 404
        assert running.node.clock.offset_seconds == 0
        assert running.balance(fresh) == STARTER
        assert running.http.get(EVIDENCE).text == evidence
    assert len(list(tmp_path.glob("accounts-*"))) == 1


def test_resets_at_once_leave_one_node_and_one_folder(tmp_path: Path) -> None:
    with serving(settings(tmp_path)) as running:
        with ThreadPoolExecutor(4) as threads:
            paths, bodies = ["/control/reset", "/control/clock"] * 4, [{}, {"offset_seconds": 5}] * 4
            answers = threads.map(lambda path, body: running.http.post(path, json=body), paths, bodies)
            assert {answer.status_code for answer in answers} == {200}
        account = running.account()
        running.group(account)
        shown, offset = running.everything(account), running.node.clock.offset_seconds
    assert len(list(tmp_path.glob("accounts-*"))) == 1
    with serving(settings(tmp_path)) as running:
        assert (running.everything(account), running.node.clock.offset_seconds) == (shown, offset)


# Starts a node whose files may have so many bytes: what they exceed fails as a full disk does.
BOUNDED = """
import resource, sys
sys.dont_write_bytecode = True  # Python would keep the half of a module's code that fits
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
from reference_node.cli import main
sys.exit(main(sys.argv[2:]))
"""


@pytest.mark.parametrize("room", [0, 5_000, 40_000])
def test_full_disk_at_the_first_start_is_one_line_and_leaves_nothing(tmp_path: Path, room: int) -> None:
    done = completed(*command("--state", str(tmp_path / "state"), program=("-c", BOUNDED, str(room))))
    assert (done.returncode, done.stdout) == (1, "")
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert str(tmp_path / "state") in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_disk_that_is_full_meanwhile_refuses_writes_answers_reads_and_loses_nothing(tmp_path: Path) -> None:
    options, whole = keeping(tmp_path / "state", "--control"), {"PYTHONDONTWRITEBYTECODE": "1"}
    with node_process(tmp_path / "ready", *options, **whole) as (process, ready), client(ready) as http:
        running = Running(None, http)
        account = running.account()
        running.group(account)
        secret = intend(running, running.account())[1]
        http.post("/control/clock", json={"offset_seconds": 7}).raise_for_status()
        before, evidence = (running.everything(account), running.balance(account)), http.get(EVIDENCE).text
        unlimited = resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (4_096, resource.RLIM_INFINITY))
        for _ in range(3):
            refused(running.post("add_group", account, group_name="g", group_description=""), 503)
        refused(running.post("billing/create_payment_intent", account, amount_cents=500), 503)
        for control, body in (("reset", {}), ("rotate", {}), ("clock", {"offset_seconds": 5})):
            refused(http.post(f"/control/{control}", json=body), 503, "state-unavailable")
        paid = pay(running, secret)
        assert (paid.status_code, str(tmp_path) in paid.text) == (500, False)
        assert (running.everything(account), running.balance(account)) == before
        assert http.get(EVIDENCE).text == evidence
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, unlimited)
        running.group(account)
        intend(running, account)
        http.post("/control/rotate", json={}).raise_for_status()
        assert http.get(EVIDENCE).text != evidence
        kept = running.everything(account), running.balance(account)
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (4_096, resource.RLIM_INFINITY))
        refused(running.post("add_group", account, group_name="g", group_description=""), 503)
    with serving(settings(tmp_path / "state")) as running:
        assert (running.everything(account), running.balance(account)) == kept
        assert running.node.clock.offset_seconds == 7
    assert verify(ledger_of(tmp_path / "state")).faults == ()


def test_lost_log_of_a_killed_node_is_told(tmp_path: Path) -> None:
    killed = tmp_path / "killed"
    with node_process(tmp_path / "ready", "--state", str(killed)) as (_, ready), client(ready) as http:
        account = Running(None, http).account()
    for file in ("chain.sqlite", "credits.sqlite", "payments.sqlite"):
        state = Path(shutil.copytree(killed, tmp_path / file))
        (log,) = state.glob(f"accounts-*/{file}-wal")
        log.unlink()
        for _ in range(2):
            with pytest.raises(StateError, match=rf"{file}-wal is missing, and with it the last writes of a node"):
                build_node(settings(state))
        (state / "open").unlink()
        with serving(settings(state)) as running:
            assert running.get("list_groups", account).status_code in {200, 401}


def test_logs_of_a_node_that_ended_in_order_or_was_reset_are_not_missed(tmp_path: Path) -> None:
    state = tmp_path / "state"
    options = ("--state", str(state), "--control", "--payments", "none")
    with node_process(tmp_path / "ready", *options) as (_, ready), client(ready) as http:
        http.post("/control/reset", json={}).raise_for_status()
        account = Running(None, http).account()
    for _ in range(2):
        with serving(settings(state)) as running:
            assert running.everything(account)["groups"] == []
    assert not (state / "open").exists()


def test_idempotent_request_is_answered_the_same_after_a_restart(tmp_path: Path) -> None:
    def made(running: Running) -> Any:
        assert running.node.simulator
        secret_key = running.node.simulator.keys.secret
        headers = {"Authorization": f"Bearer {secret_key}", "Idempotency-Key": "once"}
        data = {"amount": "500", "currency": "usd"}
        return running.http.post("/stripe/v1/payment_intents", data=data, headers=headers).json()

    with serving(settings(tmp_path)) as running:
        first = made(running)
    with serving(settings(tmp_path)) as running:
        assert made(running) == first


def test_bank_payment_under_way_is_settled_after_a_restart(tmp_path: Path) -> None:
    with serving(settings(tmp_path)) as running:
        account = running.account()
        intent, secret = intend(running, account)
        paying = pay(running, secret, "pm_usBankAccount_success").json()
        assert paying["status"] == "processing"
    with serving(settings(tmp_path)) as running:
        running.http.post("/stripe/control/clock", json={"offset_seconds": 60}).raise_for_status()
        assert payment(running, secret).json()["status"] == "succeeded"
        running.done("billing/confirm_payment", account, payment_intent_id=intent)
        assert running.balance(account) == STARTER + PRICE
    with serving(settings(tmp_path)) as running:
        assert running.node.simulator
        assert running.node.simulator.clock.offset_seconds == 60


def test_second_node_is_refused_with_one_line(tmp_path: Path) -> None:
    with serving(settings(tmp_path)):
        error = refusal(1, "--state", str(tmp_path))
    assert error == f"reference-node: another node uses the state in {tmp_path}: stop it, or name another folder\n"


Damage = Callable[[Path], object]
"""What befalls a state in its folder."""


def changed(file: Path, statement: str) -> None:
    with closing(sqlite3.connect(file)) as database, database:
        database.execute(statement)


def accounts(folder: Path) -> Path:
    return next(folder.glob("accounts-*"))


def in_node(statement: str) -> Damage:
    return lambda folder: changed(folder / "node.sqlite", statement)


def in_setting(name: str, value: str) -> Damage:
    return in_node(f"UPDATE setting SET value = '{value}' WHERE name = '{name}'")  # noqa: S608 - of this test


def in_accounts(file: str, statement: str) -> Damage:
    return lambda folder: changed(accounts(folder) / file, statement)


def torn(file: str) -> Damage:
    def tear(folder: Path) -> None:
        whole = accounts(folder) / file
        whole.write_bytes(whole.read_bytes()[:4096] + b"\x17" * 8192)

    return tear


DAMAGES: dict[str, tuple[Damage, str]] = {
    "another version": (in_node("PRAGMA user_version = 9"), "has version 9"),
    "older chain": (in_accounts("chain.sqlite", "PRAGMA user_version = 0"), "has version 0 and this node knows 1"),
    "newer ledger": (in_accounts("credits.sqlite", "PRAGMA user_version = 99"), "use a newer node"),
    "another program's": (in_node("PRAGMA application_id = 5"), "is no state of a node"),
    "torn chain": (torn("chain.sqlite"), "is damaged"),
    "torn ledger": (torn("credits.sqlite"), "is damaged"),
    "torn payments": (torn("payments.sqlite"), "is damaged"),
    "no database": (lambda folder: (folder / "node.sqlite").write_text("hello" * 1000), "is damaged"),
    "no chain": (lambda folder: (accounts(folder) / "chain.sqlite").unlink(), "is missing"),
    "no ledger": (lambda folder: (accounts(folder) / "credits.sqlite").unlink(), "is missing"),
    "no node": (lambda folder: (folder / "node.sqlite").unlink(), "is not empty and has no node.sqlite"),
    "no secret": (in_node("DELETE FROM setting WHERE name = 'root_secret'"), "it has no root_secret"),
    "no settings": (in_node("DELETE FROM setting"), "it has no root_secret"),
    "secret of nonsense": (in_setting("root_secret", '"zz"'), "its root_secret is no hex text"),
    "setting of nonsense": (in_setting("chain_id", "{"), "its chain_id is no JSON"),
    "certificate of nonsense": (in_setting("certificate", "[1]"), "its certificate is no pair of numbers"),
    "receipt of nonsense": (
        in_accounts("chain.sqlite", "UPDATE block SET receipt = '{}' WHERE number = 1"),
        "block 1 is nonsense",
    ),
    "another folder's accounts": (in_setting("generation", '"accounts-0"'), "accounts-0 is missing"),
    "accounts outside of the folder": (
        in_setting("generation", '"../elsewhere"'),
        "its generation is no name of a folder of accounts",
    ),
    "folder in place of a log": (lambda folder: (folder / "node.sqlite-wal").mkdir(), "node.sqlite can't be used ("),
    "folder in place of the mark": (lambda folder: (folder / "open").mkdir(), "Is a directory ("),
    "payments of nonsense": (in_accounts("payments.sqlite", "UPDATE resource SET members = '{}'"), "is damaged"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_state_is_refused_with_one_line(tmp_path: Path, damage: str) -> None:
    with closing(build_node(settings(tmp_path))) as node:
        assert node.payments
        node.payments.create(b"\x11" * 20, 500)  # type: ignore[arg-type]
    spoil, reason = DAMAGES[damage]
    spoil(tmp_path)
    kept = [entry.name for entry in tmp_path.glob("accounts-*")]
    with pytest.raises(StateError) as refusal:
        build_node(settings(tmp_path))
    assert [entry.name for entry in tmp_path.glob("accounts-*")] == kept, "it has removed accounts"
    told = str(refusal.value)
    assert reason in told
    assert str(tmp_path) in told
    assert "\n" not in told
    assert "\x17" * 100 not in told


def test_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    tmp_path.chmod(0o755)
    with pytest.raises(StateError, match=r"is not empty and has no node\.sqlite"):
        build_node(settings(tmp_path))
    assert [entry.name for entry in tmp_path.iterdir()] == ["thesis.txt"]
    assert (tmp_path / "thesis.txt").read_text() == "mine"
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755


def test_files_and_links_that_are_named_like_accounts_do_not_matter(tmp_path: Path) -> None:
    with closing(build_node(settings(tmp_path / "state"))):
        (tmp_path / "elsewhere").mkdir()
        (tmp_path / "state" / "accounts-file").touch()
        (tmp_path / "state" / "accounts-link").symlink_to(tmp_path / "elsewhere")
    with closing(build_node(settings(tmp_path / "state"))):
        assert (tmp_path / "elsewhere").is_dir()


def test_state_keeps_its_own_secret_and_chain(tmp_path: Path) -> None:
    one, other = bytes(range(32)), bytes(range(1, 33))
    with closing(build_node(settings(tmp_path, root_secret=one, root_secret_given=True))) as node:
        payers = node.accounts.api_payers()
    with closing(build_node(settings(tmp_path))) as node:
        assert node.accounts.api_payers() == payers
    with closing(build_node(settings(tmp_path, payers=6))) as node:
        assert len(node.accounts.api_payers()) == 6
    with pytest.raises(StateError, match="has another root secret"):
        build_node(settings(tmp_path, root_secret=other, root_secret_given=True))
    with pytest.raises(StateError, match="is of chain 31337"):
        build_node(settings(tmp_path, chain_id=5))


def test_expired_certificate_is_renewed_at_the_start(tmp_path: Path) -> None:
    StateFolder(tmp_path, root_secret=bytes(range(32)), chain_id=31337).close()
    changed(tmp_path / "node.sqlite", "UPDATE setting SET value = value - 200 * 24 * 3600 WHERE name = 'began'")
    with closing(build_node(settings(tmp_path))) as node:
        turn, issued = node.attestation.certificate
        assert turn == 1
        assert issued - node.clock.started >= 200 * 24 * 3600
    with closing(build_node(settings(tmp_path))) as node:
        assert node.attestation.certificate == (turn, issued)
