"""The vendor profile: how one node answers where the specification is silent. docs/profile.md describes every key."""

from conformance.profile.abi import Function, Parameter
from conformance.profile.load import BadProfile, load_profile, load_ready_file, stated_in
from conformance.profile.model import Profile
from conformance.profile.operations import OPERATIONS, Auth, Effect, Place
from conformance.profile.paths import UnknownKey, choices, has_none, known_paths, states, usual, value_at
from conformance.profile.reading import listening, read_aside
from conformance.profile.resolve import WHOLE, NotClaimed, NotStated, Operation, resolve

__all__ = [
    "OPERATIONS",
    "WHOLE",
    "Auth",
    "BadProfile",
    "Effect",
    "Function",
    "NotClaimed",
    "NotStated",
    "Operation",
    "Parameter",
    "Place",
    "Profile",
    "UnknownKey",
    "choices",
    "has_none",
    "known_paths",
    "listening",
    "load_profile",
    "load_ready_file",
    "read_aside",
    "resolve",
    "stated_in",
    "states",
    "usual",
    "value_at",
]
