"""A verification for people: one line a rule with what was compared and where trust ends, then what was found."""

from __future__ import annotations

import re

from rich.console import Console
from rich.table import Table
from rich.text import Text

from conformance.console import CommandConsole
from conformance.values.shown_text import cell, plain
from conformance.verify.faults import FAULTS
from conformance.verify.policy import BOOT_REGISTERS
from conformance.verify.results import REFUSING, RULES, Finding, Outcome, Rule, Severity, Verified
from conformance.verify.strict import printable, when

_LONG_HEX = re.compile(r"\b([0-9a-f]{12})[0-9a-f]{20,}\b")
_STYLES = {
    Outcome.HOLDS: "green",
    Outcome.REFUSED: "bold red",
    Outcome.NOT_SUPPORTED: "bold red",
    Outcome.BLOCKED: "yellow",
    Outcome.NOT_OFFERED: "bold yellow",
}
_PIPED_WIDTH = 160
"""Columns where the output goes into a file."""


def show(verified: Verified, what: str, console: Console | None = None) -> None:
    """Print a verification of `what`: a URL, a folder or a file."""
    console = console or CommandConsole(highlight=False)
    if not console.is_terminal:
        console.width = max(console.width, _PIPED_WIDTH)
    time = "at no known time" if verified.at is None else f"as of {when(verified.at)}"
    console.print(Text(f"{plain(what)}, {time}, trusting the root {verified.root_sha256[:12] or '(unusable)'}…\n"))
    console.print(_table(verified))
    _print_measured(verified, console)
    _print_findings(verified, console)
    console.print(_verdict(verified))


def _table(verified: Verified) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="bold")
    for heading, ratio in (("rule", None), ("", None), ("", None), ("compared", 8), ("trust ends at", 5)):
        table.add_column(heading, ratio=ratio, no_wrap=ratio is None)
    for result in verified.rules:
        facts = RULES[result.rule]
        compared = result.compared or _first(verified, result.rule, result.outcome)
        table.add_row(
            "" if facts.number is None else str(facts.number),
            facts.title,
            Text(result.outcome, style=_STYLES[result.outcome]),
            Text(cell(_shortened(compared))),
            Text(result.trust, style="dim"),
        )
    return table


def _print_measured(verified: Verified, console: Console) -> None:
    """The machine in short: each boot register with the events that the log names for it, then who runs on it."""
    identity = verified.identity
    if not identity:
        return
    console.print()
    for register in BOOT_REGISTERS:
        events = [event.name for event in verified.boot if register == f"rtmr{event.register}"]
        names = "virtual firmware" if register == "mrtd" else ", ".join(events) or "no events in the log"
        line = f"{register.upper():<6} {identity.get(register, '')[:12]}… {plain(printable(names))}"
        console.print(Text(line, style="dim"), soft_wrap=True)
    for name in ("app_id", "instance_id", "os_image_hash", "key_provider"):
        if name in identity:
            console.print(Text(f"{name.replace('_', ' ')}: {plain(identity[name])}", style="dim"), soft_wrap=True)


def _first(verified: Verified, rule: Rule, outcome: Outcome) -> str:
    """Why a rule does not hold, in short; the findings below say it in full."""
    finding = next(f for f in verified.findings if f.rule is rule and f.severity.value == outcome.value)
    meaning = FAULTS[finding.code].meaning
    return f"not judged: {meaning}" if outcome is Outcome.BLOCKED else meaning


def _print_findings(verified: Verified, console: Console) -> None:
    """Each finding once; what is blocked by one is said in the table."""
    for severities, style in (
        ({Severity.REFUSED, Severity.NOT_SUPPORTED}, "bold red"),
        ({Severity.NOT_OFFERED}, "bold yellow"),
        ({Severity.NOTE}, "dim"),
    ):
        found = dict.fromkeys(_line(finding) for finding in verified.findings if finding.severity in severities)
        if found:
            console.print()
        for head, body in found:
            console.print(Text.assemble((head, style), " ", body), soft_wrap=True)


def _line(finding: Finding) -> tuple[str, str]:
    requirement = f" {finding.requirement}" if finding.requirement else ""
    return f"{finding.severity}{requirement} {finding.code}", plain(f"{finding.where}: {finding.compared}")


def _verdict(verified: Verified) -> Text:
    holding = sum(result.outcome is Outcome.HOLDS for result in verified.rules)
    missing = [RULES[result.rule].title for result in verified.rules if result.outcome is Outcome.NOT_OFFERED]
    if not verified.accepted:
        refusing = {finding.rule for finding in verified.findings if finding.severity in REFUSING}
        return Text(f"\nREFUSED: {len(refusing)} of {len(verified.rules)} rules do not hold", style="bold red")
    without = f", without {', '.join(missing)}" if missing else ""
    simulated = "simulated-root-trusted" in verified.codes
    under = " under a SIMULATED root" if simulated else ""
    unjudged = all(result.rule is not Rule.BOOT_MEASUREMENTS for result in verified.rules)
    if unjudged:
        under += ", the boot is not judged"
    style = "bold yellow" if simulated or missing or unjudged else "bold green"
    return Text(f"\nVERIFIED{under}: {holding} of {len(verified.rules)} rules hold{without}", style=style)


def _shortened(text: str) -> str:
    """Text with long hex cut: the JSON output has it whole."""
    return _LONG_HEX.sub(r"\1…", text)
