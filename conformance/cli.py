"""The command line of the suite: hands over to a subcommand, and turns problems into one clear line."""

from __future__ import annotations

import argparse
import signal
import sys
import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import version
from typing import Any, NoReturn

from conformance.ending import PROGRAM, not_printed, say
from conformance.problems import LoadProblem, Problem, VerifierNotInstalled, require_verifier
from conformance.values.shown_text import plain
from conformance.verdict import ExitCode

COMMANDS = {
    "run": "judge a node",
    "load": "run the packs under load, with Locust",
    "report": "show the results of a run as a page, Markdown, a badge, JUnit XML, variables, annotations or scripts",
    "compare": "say what changed between two runs",
    "site": "make a static site from the results of many runs",
    "known": "write a list of known failures",
    "init": "write a node's profile from what it shows",
    "doctor": "try what a run needs",
    "packs": "list the packs and their cases",
    "requirements": "list the requirements and the checks that prove them",
    "profile": "check a vendor profile, print its schema",
    "vectors": "list, write or check vectors for implementers",
    "verify": "judge the attestation of a service, and say what it proves",
    "statement": "sign the verdict of a run about the code that was judged",
}
"""The modules of `conformance.commands`, and what `--help` says of each. Only the one that is asked for is loaded."""
NEED_VERIFIER = frozenset({"verify", "statement"})
"""Commands that cannot be loaded without the extra `attestation`."""
SELFTEST = "selftest"


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, without the whole usage."""

    def error(self, message: str) -> NoReturn:
        """Print the message and end with the code of a usage error."""
        self.exit(ExitCode.USAGE, f"{self.prog}: {message} (see {self.prog} --help)\n")

    def parse_known_args(  # type: ignore[override] # of the overloads this is the one that `argparse` itself calls
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        """Refuse what this command does not know, and name its option that is spelt most alike."""
        known, unknown = super().parse_known_args(args, namespace)
        if unknown:
            near = get_close_matches(unknown[0].partition("=")[0], self._option_string_actions, n=1)
            meant = f"; did you mean {near[0]}?" if near else ""
            self.error(f"unrecognized arguments: {' '.join(unknown)}{meant}")
        return known, unknown


def parser(commands: Collection[str] = COMMANDS) -> Parser:
    """The parser of the command line, with the options of some commands.

    The namespace of such a command holds its function as ``handle``.
    """
    top = Parser(
        prog=PROGRAM,
        description="Judges a node of the account, wallet and sandboxed-code execution service by its specification.",
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"%(prog)s {version('service-conformance')}")
    subcommands = top.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=Parser)
    for name, summary in COMMANDS.items():
        if name in NEED_VERIFIER and not _can_verify():
            subcommands.add_parser(name, help=f"{summary} (needs the extra `attestation`)")
            continue
        subparser = subcommands.add_parser(name, help=summary, allow_abbrev=False)
        if name in commands:
            import_module(f"conformance.commands.{name}").add_to(subparser)
    subcommands.add_parser(SELFTEST, help="prove with faulty nodes that each check can fail", add_help=False)
    return top


def _can_verify() -> bool:
    try:
        require_verifier()
    except VerifierNotInstalled:
        return False
    return True


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code is described in docs/results.md. SIGTERM raises KeyboardInterrupt."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    # The self-test ends processes that it forks by SIGTERM, and they would take over the handler.
    with nullcontext() if arguments[:1] == [SELFTEST] else _sigterm_interrupts():
        return _main(arguments)


@contextmanager
def _sigterm_interrupts() -> Iterator[None]:
    """Have SIGTERM raise KeyboardInterrupt meanwhile, so that what was begun is put in order."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _main(arguments: list[str]) -> int:
    try:
        if arguments[:1] == [SELFTEST]:
            return _selftest(arguments[1:])
        asked = [argument for argument in arguments if not argument.startswith("-")][:1]
        if not NEED_VERIFIER.isdisjoint(asked):
            require_verifier()
        namespace = parser(asked).parse_args(arguments)
        code: int = namespace.handle(namespace)
        sys.stdout.flush()
    except LoadProblem as problem:
        say(str(problem))
        return ExitCode.USAGE
    except Problem as problem:
        say("\n".join(map(plain, f"{PROGRAM}: {problem}".split("\n"))))
        return ExitCode.USAGE
    except OSError as problem:
        return not_printed(problem)
    return code


def _selftest(arguments: Sequence[str]) -> int:
    """The self-test takes reference nodes apart, so nothing of it is imported unless it is asked for."""
    import_module("conformance.endpoints.bundled").require_node("the self-test plants faults in the bundled node")
    code: int = import_module("conformance.selftest").main(arguments)
    return code
