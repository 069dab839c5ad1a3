"""``python -m benchmarks.costs results.json``: what each case costs, from a whole run against the bundled node."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from conformance.run.costs import COSTS_FILE


def main() -> None:
    """Write the file that the suite reads."""
    results = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    costs = {
        case["case"]: [case["exchanges"], *(case["spent"][kind] for kind in ("charged_cents", "bought_cents", "gas"))]
        for case in results["cases"]
        if case["verdict"] == "pass"
    }
    COSTS_FILE.write_text(_written(costs), encoding="utf-8")


def _written(costs: dict[str, list[int]]) -> str:
    """JSON with a line for each case."""
    lines = [f"{json.dumps(case)}: {json.dumps(cost)}" for case, cost in sorted(costs.items())]
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    main()
