"""Variants: correct nodes that chose otherwise where the specification is silent, each with the profile that says so.

The suite has to be green against each of them. A case that fails there takes a choice of the reference node for a
requirement. Independent choices share a node, so that there are few to run.
"""

from __future__ import annotations

from collections.abc import Mapping

from conformance.selftest.variants.bare_lists import bare_lists
from conformance.selftest.variants.behind_a_web_server import behind_a_web_server
from conformance.selftest.variants.demanding import demanding
from conformance.selftest.variants.lenient import lenient
from conformance.selftest.variants.minimal_answers import minimal_answers
from conformance.selftest.variants.no_chain_logs import no_chain_logs
from conformance.selftest.variants.other_contract import other_contract
from conformance.selftest.variants.other_envelope_forms import other_envelope_forms
from conformance.selftest.variants.other_evidence import other_evidence_forms, other_evidence_places
from conformance.selftest.variants.other_habits import other_habits
from conformance.selftest.variants.other_member_names import other_member_names
from conformance.selftest.variants.other_payment_choices import (
    balances_are_decimals,
    balances_are_owed,
    credit_shows_later,
    credits_stay_behind,
    intents_without_customer,
    unpaid_is_a_conflict,
    unpaid_is_answered_in_the_body,
    usage_keys_use_billing,
)
from conformance.selftest.variants.other_run_choices import other_run_choices
from conformance.selftest.variants.prefilled import prefilled
from conformance.selftest.variants.sells_credits import sells_credits
from conformance.selftest.variants.stricter import stricter
from conformance.selftest.variants.variant import Choices, together

__all__ = ["VARIANTS"]

VARIANTS: Mapping[str, Choices] = {
    "lenient": together(lenient, other_envelope_forms, no_chain_logs, behind_a_web_server),
    "other-run-choices": together(
        prefilled,
        other_member_names,
        other_run_choices,
        other_contract,
        intents_without_customer,
        balances_are_owed,
        unpaid_is_a_conflict,
        usage_keys_use_billing,
    ),
    "stricter": together(stricter, other_evidence_places, sells_credits),
    "bare-lists": bare_lists,
    "demanding": demanding,
    "other-habits": other_habits,
    "minimal-answers": together(
        minimal_answers,
        other_evidence_forms,
        balances_are_decimals,
        credit_shows_later,
        credits_stay_behind,
        unpaid_is_answered_in_the_body,
    ),
}
"""By name; a combination is named after the choice that most cases depend on."""
