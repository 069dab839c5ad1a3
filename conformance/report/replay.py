"""Writes Bash scripts that repeat the exchanges of failing cases with curl and jq, from the results of a run.

A script takes keys from the answers to its own requests, so that it contains none.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

from conformance.endpoints.conversation import OF_JQ, VARIABLE
from conformance.report.results import CaseResult, ConversationExchangeShown, ConversationShown, Results
from conformance.report.write import write_whole
from conformance.values.addresses import below
from conformance.values.shown_text import KEPT, plain
from conformance.verdict import Verdict

KEY = re.compile(r"\$\{(API_KEY_[0-9]+)\}")
UNPRINTABLE = re.compile(r"[^\x20-\x7e]")
"""Candidates of it, each of which is looked at."""
BODILESS = "HEAD"
LONGEST_NAME = 150
NO_ANSWER = "000"
"""The status that curl prints when no answer came."""

FUNCTIONS = r"""
answer=$(mktemp)
trap 'rm -f "$answer"' EXIT
different=0

send() {  # the status in the run, what is sent, and the arguments of curl
  local expected=$1 what=$2 status
  shift 2
  status=$(curl --silent --show-error --globoff --path-as-is --max-time 60 \
    ${CA_FILE:+--cacert "$CA_FILE"} --output "$answer" --write-out '%{http_code}' "$@")
  if [ "$status" = "$expected" ]; then
    printf '%s: %s\n' "$what" "$status"
  else
    printf '%s: %s, in the run it was %s\n' "$what" "$status" "$expected"
    different=1
  fi
}

given() {  # a value of the last answer: the filter of jq, and the variables that it names
  jq --raw-output "$@" "$answer" || echo "nothing at $1 of the answer" >&2
}

show_answer() {  # its beginning, in one line, without what controls a terminal
  printf '    the answer now: '
  head -c 4000 "$answer" | jq --slurp --raw-input --raw-output 'gsub("[\\p{C}\\p{Zl}\\p{Zp}]"; " ")'
}

in_url() {
  printf '%s' "$1" | jq --slurp --raw-input --raw-output @uri
}
"""

NETWORK = r"""# As in the run: this machine is reached without a proxy, and curl would not read HTTP_PROXY.
[ -z "${HTTP_PROXY-}" ] || export http_proxy="${http_proxy-$HTTP_PROXY}"
no_proxy="${no_proxy-${NO_PROXY-}}"
[ "$no_proxy" = "*" ] || export no_proxy="localhost,127.0.0.1,::1${no_proxy:+,$no_proxy}"
"""

SHOW_ANSWER = "show_answer"


def write_replays(results: Results, folder: Path) -> list[Path]:
    """Write a script for each failing case into a folder, which is made if necessary. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    for case in results.cases:
        if text := script(case, results.target.base_url, _ca_file(case, results)):
            path = folder / _file_name(case.case, written)
            write_whole(path, text)
            path.chmod(0o755)
            written.append(path)
    return written


def _ca_file(case: CaseResult, results: Results) -> str:
    """The file of certificates that the run trusted beside the machine's; empty where there was none."""
    rerun = shlex.split(case.rerun)
    if "--ca-file" in rerun:
        return rerun[rerun.index("--ca-file") + 1]
    stated = results.profile.content.get("ca_file")
    return str(Path(results.profile.source).parent / stated) if isinstance(stated, str) else ""


def _file_name(case: str, taken: Iterable[Path]) -> str:
    """`groups-group-has-an-id.sh` for `groups::group-has-an-id`; numbered where another case has that name."""
    stem = re.sub(r"[^A-Za-z0-9._]+", "-", case).strip("-")[:LONGEST_NAME]
    names = {path.stem for path in taken}
    number = 1
    while (name := stem if number == 1 else f"{stem}-{number}") in names:
        number += 1
    return f"{name}.sh"


def script(case: CaseResult, base_url: str, ca_file: str = "") -> str:
    """The script that repeats a case; empty for one that did not fail. `ca_file`: trusted in the run, too."""
    failure = case.failure
    if case.verdict not in {Verdict.FAIL, Verdict.KNOWN} or failure is None or failure.conversation is None:
        return ""
    conversation, base_url = failure.conversation, base_url.rstrip("/")
    lines = ["#!/usr/bin/env bash", *_head(case, conversation), "", f"NODE_URL=${{NODE_URL:-{shlex.quote(base_url)}}}"]
    lines += ["# A PEM file with the certificates to trust, such as a private CA's."]
    lines += [f"CA_FILE=${{CA_FILE-{shlex.quote(ca_file)}}}", NETWORK.rstrip("\n")]
    lines += [*_made_up(conversation), FUNCTIONS.rstrip("\n"), ""]
    names = frozenset(name for one in conversation.exchanges for name in one.given)
    for number, exchange in enumerate(conversation.exchanges):
        lines += _step(number, exchange, base_url, names)
        if number == conversation.departed:
            lines += _departure(failure.step, failure.expected, failure.got)
            lines += [] if exchange.unrepeatable else [SHOW_ANSWER]
    return "\n".join([*lines, "", 'exit "$different"', ""])


def _head(case: CaseResult, conversation: ConversationShown) -> Iterator[str]:
    yield from _comment(f"{case.case}: {case.title}")
    yield from _comment(case.reason)
    yield "#"
    yield "# Repeats the requests of the case with curl and jq. NODE_URL names another node than that of the run."
    yield "# Keys are taken from the answers on the way; none stands in this file. Requests that the case sent at the"
    yield "# same time follow one another here. Ends with 1 where a status is not what it was in the run."
    if conversation.departed is not None and not conversation.exchanges[conversation.departed].unrepeatable:
        number = conversation.departed + 1
        yield f"# What answers hold is not judged: the answer to request {number}, which showed the failure, is printed"
        yield "# beside what was expected of it. Look at both, also where this ends with 0."
    if conversation.left_out:
        yield f"# {conversation.left_out} earlier requests of the case are left out, with what they made."


def _comment(text: str) -> Iterator[str]:
    for line in text.splitlines():
        yield f"# {plain(line)}"


def _made_up(conversation: ConversationShown) -> Iterator[str]:
    """The keys that the case presented without getting them from an answer."""
    given = {name for one in conversation.exchanges for name in one.given}
    used = dict.fromkeys(name for one in conversation.exchanges for text in _texts(one) for name in KEY.findall(text))
    if missing := [name for name in used if name not in given]:
        yield "# No answer gave these keys, the suite made them up: random ones, unless the environment has others."
        yield from (f"{name}=${{{name}:-$(head -c 32 /dev/urandom | base64 | tr -d '\\n')}}" for name in missing)


def _texts(exchange: ConversationExchangeShown) -> tuple[str, ...]:
    return (exchange.url, exchange.request_body or "", *exchange.request_headers.values())


def _step(number: int, exchange: ConversationExchangeShown, base_url: str, names: frozenset[str]) -> Iterator[str]:
    """The commands for one exchange; `names` are the variables that answers give."""
    path = urlsplit(exchange.url).path
    what = plain(f"{number + 1}  {exchange.method} {VARIABLE.sub('…', path)}")
    yield ""
    if exchange.unrepeatable:
        yield f"printf '%s\\n' {shlex.quote(f'{what}: not repeated, {exchange.unrepeatable}')}"
        return
    if exchange.not_sent:
        what = f"{what}, which gives what the run computed"
    status = "200" if exchange.not_sent else NO_ANSWER if exchange.status is None else str(exchange.status)
    yield " ".join(["send", status, shlex.quote(what), *_arguments(exchange, base_url, names)])
    for name, path in exchange.given.items():
        known = [f' --arg {one} "${one}"' for one in OF_JQ.findall(path) if exchange.not_sent and one in names]
        yield f"{name}=$(given {_quoted(path)}{''.join(known)})"


def _arguments(exchange: ConversationExchangeShown, base_url: str, names: frozenset[str]) -> Iterator[str]:
    """The request as arguments of curl."""
    yield from ["--head"] if exchange.method == BODILESS else ["-X", shlex.quote(exchange.method)]
    path = below(exchange.url, base_url)
    if path is not None:
        yield '"$NODE_URL"' + _spliced(path, names, in_url=True)
    else:
        yield _spliced(exchange.url, names, in_url=True)
    headers = exchange.request_headers
    for name, value in headers.items():
        yield f"-H {_spliced(f'{name}: {value}' if value else f'{name};', names)}"
    if exchange.request_body is not None:
        if "content-type" not in {name.lower() for name in headers}:
            yield "-H Content-Type:"
        yield f"--data-binary {_spliced(exchange.request_body, names)}"


def _spliced(text: str, names: frozenset[str], *, in_url: bool = False) -> str:
    """A text as one word of the shell, with the values of keys and of the variables of these names."""
    form = """'"$(in_url "${}")"'""" if in_url else """'"${}"'"""

    def value(match: re.Match[str]) -> str:
        known = match[1] in names or KEY.fullmatch(match[0])
        return form.replace("{}", match[1]) if known else match[0]

    return VARIABLE.sub(value, _quoted(text))


def _quoted(text: str) -> str:
    """A text as a word of Bash, with the bytes of what controls or reorders the text of the script as escapes."""
    return UNPRINTABLE.sub(_escaped, "'" + text.replace("'", "'\\''") + "'") if text else "''"


def _escaped(found: re.Match[str]) -> str:
    if found[0].isprintable() or found[0] in KEPT:
        return found[0]
    octets = found[0].encode("utf-8", "surrogatepass")
    return "'$'" + "".join(f"\\x{octet:02x}" for octet in octets) + "''"


def _departure(step: str, expected: str, got: str) -> Iterator[str]:
    rows = {"step": step, "expected": expected, "got in the run": got}
    for name, text in rows.items():
        yield f"printf '%s\\n' {shlex.quote(f'    {name}: {plain(text)}')}"
