"""The self-test: faulty nodes that prove that each check can fail, and correct ones that must be green.

The only part of the suite that knows the reference node from the inside. docs/selftest.md shows how to add a mutant.
"""

from conformance.selftest.tools.command import main

__all__ = ["main"]
