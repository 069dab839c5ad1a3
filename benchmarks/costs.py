"""``python -m benchmarks.costs results.json``: what each case costs, from a whole run against the bundled node."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from conformance.run.costs import COSTS_FILE


def main() -> None:
    """Write the file that the suite reads."""
    results = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    costs = {case["case"]: case["exchanges"] for case in results["cases"] if case["verdict"] == "pass"}
    COSTS_FILE.write_text(json.dumps(costs, indent=0, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
