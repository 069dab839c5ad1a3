"""Texts that a hostile node answers: each form of the report, and each command, shows them as texts."""

from __future__ import annotations

import json
import re
import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from shutil import which

import pytest
import yaml
from browser import absent, browsed
from http_server import Answer, Request, serve
from hypothesis import given, settings
from hypothesis import strategies as st
from made_runs import EXCHANGE, outcome, terminal
from made_runs import results as results_of
from tiny_node import TinyNode, Told

from conformance.cli import main
from conformance.profile import load_profile
from conformance.report import Results
from conformance.report.case_text import explain
from conformance.report.renderers import RENDERERS
from conformance.report.replay import script
from conformance.report.results import CaseResult
from conformance.report.site import collect, write_site
from conformance.report.write import write_results
from conformance.run import unanswered
from conformance.run.allure import attachments, details
from conformance.survey import Notes, written
from conformance.values.shown_text import cell, plain, with_powers
from conformance.verdict import Conversation, ConversationExchange, Failure, Outcome, Verdict

PAYLOADS = {
    "CSI": "\x1b[2J\x1b[31m",
    "OSC 8, a link": "\x1b]8;;http://127.0.0.1/\x1b\\here\x1b]8;;\x07",
    "DCS": "\x1bPq#0\x1b\\",
    "C1 controls": "\x9b31m\x9d0;title\x9c\x90q\x9c",
    "carriage return and backspaces": "bad\rgood\b\b\b\b",
    "other ends of lines": "one\x0btwo\x0cthree\x85four\u2028five\u2029::error::six",
    "bidirectional": "\u202egnp.\u2066x\u2069\u200f",
    "zero width": "ad\u200bmin\u2060\ufeff\u00ad",
    "tags": "\U000e0041\U000e0042",
    "HTML": "</script></title><script>document.title = 'taken'</script><img src=x onerror=\"document.title='taken'\">",
    "an attribute": "\" onmouseover=\"document.title='taken'\" autofocus onfocus='document.title=1' x='",
    "addresses": "javascript:document.title='taken' data:text/html,<script>1</script>",
    "a template": "{{ 7*7 }} {% raw %}",
    "Markdown": "](http://127.0.0.1/) ![x](http://127.0.0.1/y) <b> | `` ` ``` \n# head\n- [ ] @everyone",
    "CDATA and entities": "]]> &lt; &#27; <![CDATA[ <!ENTITY x SYSTEM 'file:///etc/passwd'>",
    "a formula": "=cmd|' /C calc'!A0",
    "commands of GitHub": "\n::set-output name=conforms::true\n  ::add-mask::a\n::stop-commands::x",
    "older commands of GitHub": "##[set-output name=conforms]true ##[add-mask]a ###[error]b",
    "commands of Azure and TeamCity": "##vso[task.setvariable variable=x]y ##VSO[task.complete] ##teamcity[buildStop]",
    "markup of Rich": "[bold]x[/] [/nothing] [link=http://127.0.0.1/]y[/link]",
    "a dollar": "$HOME ${IFS} $(touch canary) `touch canary`",
    "ends of a quotation": "'; touch canary; ' \"; touch canary; \" \\'; touch canary; #",
    "a name of a file": "../../canary\0/etc/passwd",
}
EVERY = "".join(PAYLOADS.values())
COMMAND = re.compile(r"^\s*::[A-Za-z-]+[^:]*::|##[A-Za-z]*\[", re.MULTILINE)
"""What GitHub's runner, Azure Pipelines or TeamCity would take for a command in a log."""
LOGS = {"summary", "junit", "dotenv"}
"""Forms that also appear in the log of a job, where no command may begin. The annotations are commands themselves."""


def failing(text: str) -> Outcome:
    """A failed case with this text in each place for texts of a node."""
    headers = {"Location": text, "X-Own": text}
    request = {"Content-Type": "application/json", "X-Id": text}
    exchange = replace(EXCHANGE, request_body=text, response_headers=headers, response_body=text)
    asked = ConversationExchange("POST", f"http://n/core/v1/x?id={text}", request, text, 200, text, 0.1)
    asked = replace(asked, given={"GROUP_ID_1": f'.["{text}"]'}, operation="add_group")
    user = replace(asked, url=f"http://n/core/v1/y?id=${{GROUP_ID_1}}&name={text}", given={})
    told = Conversation((asked, user), departed=1, names={"GROUP_ID_1": text})
    failure = Failure(f"steps[1] call {text}", text, text, exchange, conversation=told)
    return replace(outcome(f"p::b[{text}]", Verdict.FAIL, "A-010"), reason=text, failure=failure, traceback=text)


def results(text: str) -> Results:
    unclear = replace(outcome("p::a", Verdict.INCONCLUSIVE, "A-020"), reason=text)
    return results_of(failing(text), unclear, faults=(text,), checks={})


def failed(shown: Results) -> CaseResult:
    (case,) = [case for case in shown.cases if case.verdict is Verdict.FAIL]
    return case


def in_allure(text: str) -> str:
    """What the Allure results hold of a case that failed so."""
    outcome = failing(text)
    shown = details(outcome, explain(outcome, "again"))
    assert shown is not None
    attached = [part for name, part, _ in attachments(outcome.failure)]
    assert len(attached) == 3
    return "\n".join([str(shown.message), str(shown.trace), *attached])


FORMS: dict[str, Callable[[Results], str]] = {
    **RENDERERS,
    "terminal": lambda shown: terminal(shown, width=100),
    "case": lambda shown: explain(failed(shown), "again"),
    "results": lambda shown: shown.content.decode(),
    "replay": lambda shown: script(failed(shown), "http://n"),
}
SHOWN: dict[str, Callable[[str], str]] = {
    **{form: lambda text, render=render: render(results(text)) for form, render in FORMS.items()},  # type: ignore[misc]
    "allure": in_allure,
}
"""Each form of a report on a node that answers a text."""


@pytest.mark.parametrize("name", PAYLOADS)
@pytest.mark.parametrize("form", SHOWN)
def test_form_shows_what_a_node_says_as_text(form: str, name: str) -> None:
    shown = SHOWN[form](PAYLOADS[name])
    assert shown
    assert {one for one in shown if not one.isprintable()} <= {"\n", "\t", "\xa0"}
    shown.encode()
    if form in LOGS | {"terminal", "case"}:
        assert COMMAND.findall(shown) == []
    if form == "annotations":
        assert all(line.startswith("::error title=") for line in shown.splitlines())
        assert "##" not in shown or COMMAND.findall(re.sub("(?m)^::error", "", shown)) == []
    if form == "junit":
        ET.fromstring(shown)  # noqa: S314 - made by the suite, and the point is that it is well formed
    if form in {"har", "badge"}:
        json.loads(shown)
    if form == "results":
        assert failed(Results.model_validate_json(shown)) == failed(results(PAYLOADS[name])), "no sign is lost"


@pytest.mark.parametrize("text", ["##[a]", "a###[b]", "##vso[c]", "::d::", "  ::e::", "x ::f::", "\n::g::"])
def test_mark_of_a_command_is_broken(text: str) -> None:
    assert COMMAND.findall(plain(text)) == []


@pytest.mark.parametrize("text", ["groups::group-has-an-id: expected a::b", "http://[::1]:80/", "# a ## b [c]", "::1"])
def test_other_text_stays_as_it_is(text: str) -> None:
    assert plain(text) == text


def test_cell_of_a_table_begins_no_command_wherever_it_is_folded() -> None:
    folded = cell("aaaa::error::b")
    assert not any(COMMAND.match(folded[start:]) for start in range(len(folded)))


@dataclass
class Listening:
    """Notes what a page asks of the network."""

    url: str = ""
    asked: list[str] = field(default_factory=list)

    def answer(self, request: Request) -> Answer:
        """The answer to a request."""
        self.asked.append(request.target)
        return Answer(204)


@pytest.fixture
def listening() -> Iterator[Listening]:
    found = Listening()
    with serve(found.answer) as found.url:
        yield found


def loading(url: str) -> str:
    """Everything by which a page could load something or run a script."""
    kinds = ["img", "iframe", "script", "embed", "audio", "video", "input type=image"]
    tags = "".join(f"<{kind} src={url}/{kind[:5]}></{kind.split()[0]}>" for kind in kinds)
    run = f"fetch('{url}/ran')"
    return (
        f'</pre></code></td></style></title></textarea></noscript>{tags}<script>{run}</script><svg onload="{run}">'
        f'<link rel=stylesheet href={url}/css><link rel=prefetch href={url}/prefetch><base href="{url}/">'
        f'<meta http-equiv=refresh content="0;url={url}/meta"><object data={url}/object></object>'
        f'<div style="background:url({url}/style)"><details open ontoggle="{run}"><img src=x onerror="{run}">\' " {run}'
    )


def test_page_and_site_run_and_load_nothing_of_a_node(tmp_path: Path, listening: Listening) -> None:
    """Escaping alone keeps it from running: the policy of the pages is taken away."""
    hostile = results(loading(listening.url))
    write_results(hostile, tmp_path / "runs" / "n")
    write_site(collect([tmp_path / "runs"]), tmp_path / "site")
    page = tmp_path / "site" / "page.html"
    page.write_text(RENDERERS["html"](hostile), encoding="utf-8")
    for file in sorted((tmp_path / "site").rglob("*.html")):
        text = file.read_text("utf-8")
        assert listening.url in text or file.name == "index.html"
        file.write_text(re.sub(r"<meta http-equiv=[^>]*Security[^>]*>", "", text), encoding="utf-8")
        browsed(file, tmp_path)
    assert listening.asked == []


def test_browser_would_load_it(tmp_path: Path, listening: Listening) -> None:
    page = tmp_path / "page.html"
    page.write_text(f"<!doctype html><body>{loading(listening.url)}", encoding="utf-8")
    browsed(page, tmp_path)
    assert "/img" in listening.asked


@pytest.mark.parametrize("shell", ["bash", "dash"])
def test_replay_runs_no_command_of_a_node(tmp_path: Path, shell: str) -> None:
    for program in (shell, "shellcheck", "jq", "curl"):
        if which(program) is None:
            absent(f"{program} is missing")
    file = tmp_path / "replay.sh"
    file.write_text(script(failed(results(EVERY)), "http://127.0.0.1:9"), encoding="utf-8")
    subprocess.run(  # noqa: S603 - our own script
        [str(which(shell)), str(file)], cwd=tmp_path, capture_output=True, timeout=300, check=False
    )
    assert {path.name for path in tmp_path.iterdir()} == {"replay.sh"}
    found = subprocess.run(  # noqa: S603 - our own script
        [str(which("shellcheck")), "-S", "warning", str(file)], capture_output=True, text=True, check=False, timeout=300
    )
    assert found.stdout == ""


def hostile_everywhere(node: TinyNode, text: str) -> None:
    """Have each path answer with the text in every member, name and header."""
    body = json.dumps([{text: text, "id": text, "name": text, "title": text, "error": text, "api_key": text}])
    header = re.sub(r"[\r\n\0]", "", text).encode("latin-1", "replace").decode("latin-1")
    told = Told(200, body, {"X-Own": header, "Link": f"<{header}>; rel=next"})
    for path in ("get_node_chain_config", "get_api_payers", "new_account", "list_groups", "account_exists"):
        node.faults[path] = lambda _: told
    described = {
        "openapi": "3.0.0",
        "info": {"title": text, "version": text},
        "paths": {text: {"get": {"summary": text}}},
    }
    node.faults["openapi.json"] = lambda _: Told(200, described)


TEXTS_OF_A_NODE = {"all of these": EVERY, "markup of Rich": PAYLOADS["markup of Rich"], "half a pair": "\ud800"}
"""Markup ends what Rich prints, and half a pair is what no file can hold: these are also tried alone."""
COMMANDS = {
    "doctor": ["doctor"],
    "init": ["init", "--try"],
    "run": ["run", "--case", "groups::group-has-*", "--jobs", "1"],
}


@pytest.fixture
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for a node whose answers are no HTTP."""
    monkeypatch.setattr(unanswered, "WAITS_BEHIND_A_GATEWAY", (0.0,))


@pytest.mark.usefixtures("no_waiting")
@pytest.mark.parametrize("name", ["all of these", "half a pair"])
def test_files_of_allure_hold_what_a_node_says_as_text(node: TinyNode, tmp_path: Path, name: str) -> None:
    hostile_everywhere(node, TEXTS_OF_A_NODE[name])
    main([*COMMANDS["run"], "--node-url", node.url, "--alluredir", str(tmp_path / "allure")])
    files = list((tmp_path / "allure").iterdir())
    assert {"-result.json", "-attachment.txt"} <= {file.name[36:] for file in files}, "names that no node chooses"
    for file in files:
        text = file.read_text(encoding="utf-8")
        assert {one for one in text if not one.isprintable()} <= {"\n", "\t"}, file


@pytest.mark.usefixtures("no_waiting")
@pytest.mark.parametrize("name", TEXTS_OF_A_NODE)
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("whole", [True, False], ids=["every answer", "lists alone"])
def test_command_prints_what_a_node_says_as_text(
    node: TinyNode, capsys: pytest.CaptureFixture[str], command: str, name: str, *, whole: bool
) -> None:
    hostile_everywhere(node, TEXTS_OF_A_NODE[name])
    if not whole:
        for path in ("get_node_chain_config", "get_api_payers", "new_account", "account_exists"):
            node.faults.pop(path)
    first, *more = COMMANDS[command]
    address = [node.url] if first == "init" else ["--node-url", node.url]
    main([first, *address, *more])
    out, err = capsys.readouterr()
    for told in (out, err):
        assert {one for one in told if not one.isprintable()} <= {"\n"}
        assert COMMAND.findall(told) == []
        assert "Traceback" not in told
        assert "crashed with" not in told


TEXTS = st.one_of(
    st.text(),
    st.sampled_from(
        [*PAYLOADS.values(), "a: b", "- a", "&a", "*a", "!t", "? a", "# a", "---", "\n---\n", "...", "{", "~"]
    ),
    st.text(alphabet="ab \n:#-&*!|>'\"%@`,[]{}\x85\u2028\x1b", min_size=1),
    st.integers(9_000, 12_000).map(lambda length: "evil: yes " * (length // 10)),
)


@settings(deadline=None, max_examples=30)
@given(value=st.one_of(TEXTS, st.lists(TEXTS, max_size=3)), how=TEXTS)
def test_profile_of_init_holds_the_texts_of_a_node_as_values(value: str | list[str], how: str) -> None:
    notes = Notes()
    notes.see("brand.title", value, how)
    notes.see("limits.page_size_max", 7, how)
    notes.doubt("brand.slug", how)
    text = written(notes, "http://n", ["how"]).encode("utf-8").decode()
    (document,) = yaml.safe_load_all(text)
    assert document == {"base_url": "http://n", "brand": {"title": value}, "limits": {"page_size_max": 7}}
    assert {one for one in text if not one.isprintable()} <= {"\n"}


def test_written_profile_with_a_long_text_can_be_loaded(tmp_path: Path) -> None:
    notes = Notes()
    notes.see("brand.title", "x" * 9_999 + " base_url: http://elsewhere", "seen")
    file = tmp_path / "node.yaml"
    file.write_text(written(notes, "http://n", []), encoding="utf-8")
    assert load_profile(file).base_url == "http://n"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("chainId 18446744073709582953", "chainId 18446744073709582953 (2^64 + 31337)"),
        ('{"cents":16777217,"more":16777300}', '{"cents":16777217 (2^24 + 1),"more":16777300}'),
        ("4294967295, 9007199254740992", "4294967295 (2^32 - 1), 9007199254740992 (2^53)"),
        (f"0x4294967295 a4294967296 4294967296.5 1795891895 {'9' * 500}", None),
    ],
)
def test_numbers_at_the_end_of_a_format_are_told_as_powers(text: str, shown: str | None) -> None:
    assert with_powers(text) == (shown or text)
