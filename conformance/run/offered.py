"""Decides from the profile alone whether a case applies to the node."""

from __future__ import annotations

from conformance.endpoints.client import Target
from conformance.problems import ProfileSilent
from conformance.profile import has_none, read_aside, states
from conformance.run.case import Case
from conformance.values.json_values import printed, same


def not_offered(case: Case, target: Target) -> str:
    """Why the profile rules the case out; empty when it does not."""
    profile = target.profile
    if lacking := _lacking(case, target):
        return lacking
    with read_aside():
        silent = sorted(key for key in case.info.uses if not states(profile, key) and not has_none(profile, key))
    if silent:
        return f"the profile states nothing about {', '.join(silent)}"
    if others := is_for_others(case, target):
        return others
    if case.info.accounts and profile.accounts.credits is None:
        return "the profile states no way for new accounts to pay (accounts.credits)"
    for name in sorted(case.info.operations):
        try:
            target.operation(name)
        except ProfileSilent as problem:
            return f"{name} needs {problem.expected}"
    return ""


def _lacking(case: Case, target: Target) -> str:
    """Which capabilities the case has to do without; empty where it has all."""
    lacking = sorted(need for need in case.info.needs if not target.profile.offers(need))
    if lacking:
        return f"the profile does not claim {', '.join(lacking)}"
    if "restart" in case.info.needs and target.restarter is None and not target.may_restart:
        return "it runs the profile's command that restarts the node, which --restart permits"
    return ""


def is_for_others(case: Case, target: Target) -> str:
    """Which nodes the case is for, where the profile states another choice; empty where the case applies."""
    for key in sorted(case.info.uses):
        with read_aside():
            has_no_such = has_none(target.profile, key)
        if has_no_such:
            return f"it is for nodes that have {key}; this one has none"
    for key, values in case.info.stated:
        stated = target.profile_value(key)
        if stated is not None and not any(same(value, stated) for value in values):
            return f"it is for nodes whose {key} is {' or '.join(map(printed, values))}; here it is {printed(stated)}"
    return ""
