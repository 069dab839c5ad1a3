"""`reference-node`, and `python -m reference_node`."""

from __future__ import annotations

from reference_node.ending import end


def main() -> int:
    """Run the command line and return its exit code."""
    return end(_main)


def _main() -> int:
    from reference_node.cli import main as command_line  # noqa: PLC0415 - a module that cannot be loaded ends it, too

    return command_line()


if __name__ == "__main__":
    raise SystemExit(main())
