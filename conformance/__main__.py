"""``service-conformance``, and ``python -m conformance``."""

from __future__ import annotations

import sys

from conformance.ending import end


def main() -> int:
    """Run the command line and return its exit code."""
    return end(_main)


def _main() -> int:
    from conformance.cli import main as command_line  # noqa: PLC0415 - a module that cannot be loaded ends it, too

    return command_line()


if __name__ == "__main__":
    sys.exit(main())
