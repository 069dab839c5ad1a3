"""Foundations of runs: keys, parameters, promises and wallets work, and permitted runs sign."""

from __future__ import annotations

from conformance.problems import Departure, LeakyRefusal, Mismatch, NotAccepted, RunEndedOtherwise, WrongRefusal
from conformance.run.foundations import trials
from conformance.run.foundations.foundation import Foundation

NEEDED_BY_RUNS = (
    "groups",
    "wallets",
    "usage keys",
    "actions that groups are made with",
    "wallets that groups are made with",
)
"""The names of the foundations whose objects a permitted run needs."""

RUNS = (
    Foundation(
        "permission of runs",
        "run_action",
        trials.permitted_runs_sign,
        "execution_rule::usage-key",
        "EXEC-010 EXEC-020 UKEY-010 UKEY-260",
        upon=NEEDED_BY_RUNS,
        departures=(NotAccepted, RunEndedOtherwise, WrongRefusal),
        shown_by=NotAccepted,
        refused_as="forbidden",
    ),
    Foundation(
        "marks of failed runs",
        "run_action",
        trials.successful_runs_are_not_marked,
        "actions_run::failing-code",
        "EXEC-320",
        upon=NEEDED_BY_RUNS,
        departures=(RunEndedOtherwise,),
    ),
    Foundation(
        "what refusals of runs tell",
        "run_action",
        None,
        "key_runs::answers-hold-no-key",
        "AKEY-050 ERR-140 ERR-160 PKP-090 UKEY-360",
        departures=(LeakyRefusal,),
        shown_by=Departure,
    ),
    Foundation(
        "keys of runs in X-Api-Key",
        "run_action",
        None,
        "key_runs::either-header",
        "AUTH-010 EXEC-250",
        upon=NEEDED_BY_RUNS,
        departures=(NotAccepted, WrongRefusal),
        refused_as="unauthenticated",
    ),
    Foundation(
        "what main returns",
        "run_action",
        None,
        "actions_run::response-carries-every-value",
        "EXEC-140 EXEC-370",
        upon=NEEDED_BY_RUNS,
        departures=(Mismatch,),
    ),
    Foundation(
        "parameters of main",
        "run_action",
        None,
        "actions_run::parameters-come-unchanged",
        "EXEC-150 EXEC-160",
        upon=NEEDED_BY_RUNS,
        departures=(Mismatch,),
    ),
    Foundation(
        "parameters that runs take",
        "run_action",
        None,
        "actions_run::parameters-come-unchanged",
        "EXEC-150 EXEC-160",
        upon=NEEDED_BY_RUNS,
        departures=(NotAccepted,),
        refused_as="invalid",
    ),
    Foundation(
        "the promise of main",
        "run_action",
        None,
        "actions_run::main-is-awaited",
        "EXEC-150 EXEC-370",
        upon=NEEDED_BY_RUNS,
        departures=(Mismatch,),
    ),
    Foundation(
        "the key of a wallet",
        "run_action",
        None,
        "key_custody::messages-are-signed-with-the-wallets-key",
        "EXEC-190 PKP-170",
        upon=NEEDED_BY_RUNS,
        departures=(Mismatch,),
    ),
    Foundation(
        "the private key of a wallet",
        "run_action",
        None,
        "key_custody::the-private-key-is-the-wallets",
        "EXEC-190 PKP-170",
        upon=("the key of a wallet",),
        departures=(Mismatch,),
    ),
    Foundation(
        "runs",
        "run_action",
        trials.permitted_runs_sign,
        "execution_rule::usage-key",
        "EP-380 EXEC-010 EXEC-020 EXEC-140 EXEC-150 EXEC-190 EXEC-250 EXEC-370 PKP-100 PKP-110 PKP-170 "
        "UKEY-010 UKEY-260",
        upon=NEEDED_BY_RUNS,
    ),
    Foundation(
        "runs by the account key",
        "run_action",
        None,
        "execution_rule::account-key",
        "EXEC-020 EXEC-120",
        upon=("runs",),
        departures=(NotAccepted,),
    ),
    Foundation(
        "runs by the account key in every group",
        "run_action",
        None,
        "group_runs::account-key-uses-every-group",
        "EXEC-020 EXEC-120 GRP-250",
        upon=("runs by the account key",),
        departures=(NotAccepted,),
        shown_by=Departure,
    ),
)
