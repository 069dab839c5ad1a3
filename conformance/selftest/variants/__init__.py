"""Variants: correct nodes that chose otherwise where the specification is silent, each with the profile that says so.

The suite has to be green against each of them. A case that fails there takes a choice of the reference node for a
requirement.
"""

from conformance.selftest.variants import (  # noqa: F401 - they enter themselves
    boxed,
    generous,
    particular,
    secretive,
    terse,
)
from conformance.selftest.variants.variant import VARIANTS, Variant

__all__ = ["VARIANTS", "Variant"]
