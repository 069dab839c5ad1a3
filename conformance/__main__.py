"""``python -m conformance`` is ``service-conformance``."""

from __future__ import annotations

import sys

if __name__ == "__main__":
    try:
        from conformance.cli import main
    except KeyboardInterrupt:  # its libraries take a while to load
        sys.stderr.write("service-conformance: interrupted\n")
        sys.exit(5)  # ExitCode.INTERRUPTED, which is not loaded yet
    sys.exit(main())
