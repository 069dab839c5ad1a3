"""Variants: correct nodes that chose otherwise where the specification is silent, each with the profile that says so.

The suite has to be green against each of them. A case that fails there takes a choice of the reference node for a
requirement. Choices that have nothing to do with one another share a node, so that there are few to run.
"""

from __future__ import annotations

from collections.abc import Mapping

from conformance.selftest.variants.discreet import discreet
from conformance.selftest.variants.fronted import fronted
from conformance.selftest.variants.guarded import guarded
from conformance.selftest.variants.labelled import labelled
from conformance.selftest.variants.lenient import generous
from conformance.selftest.variants.other_run_choices import boxed
from conformance.selftest.variants.particular import particular
from conformance.selftest.variants.prefilled import furnished
from conformance.selftest.variants.secretive import secretive
from conformance.selftest.variants.terse import terse
from conformance.selftest.variants.variant import Choices, together

__all__ = ["VARIANTS"]

VARIANTS: Mapping[str, Choices] = {
    "boxed": together(furnished, labelled, boxed),
    "generous": together(generous, particular, discreet, fronted),
    "guarded": guarded,
    "secretive": secretive,
    "terse": terse,
}
"""By name."""
