"""``python -m conformance.load``: one of Locust's processes. A crash of it does not end it with a verdict."""

from __future__ import annotations

import sys

from conformance.ending import end


def _main() -> int:
    from conformance.load.process import main  # noqa: PLC0415 - Locust may be broken

    return main()


if __name__ == "__main__":
    sys.exit(end(_main))
