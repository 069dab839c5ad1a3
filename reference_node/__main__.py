"""`python -m reference_node`."""

from reference_node.cli import main

raise SystemExit(main())
