"""Sources of the actions that cases run, with the names that a profile's `exec` section gives: `fixtures/actions/*.js`.

Hostile ones are in `fixtures/hostile`.

Specification, "Endpoints / Wallets and actions" (run action): `code` is JavaScript that defines an async `main`. It
shows neither the calls of the sandbox nor how a run names its wallet, so that no source is the same for all nodes. In a
file stand

- `$NAMESPACE`, `$GET_PRIVATE_KEY`, `$SIGN_MESSAGE`, `$SIGN_DIGEST`: the names of `exec.sandbox_api`. A call in a file
  takes one object; on nodes with positional arguments its values are passed in their order;
- `...$WALLET`: in the argument of a call, the wallet that the run's parameters name; nothing on nodes that read it
  there themselves;
- `$MEMBER`: the member of that argument, to name a wallet of the script's own choice.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import cache

from conformance.problems import ProfileSilent
from conformance.profile import Profile, read_aside, value_at
from conformance.resources import fixtures

Reader = Callable[[str], object]
"""Gives the value of a dotted profile key; None when the profile leaves it out."""

API = "exec.sandbox_api"
SELECTION = "exec.pkp_selection"
NAMED_BY, MEMBER = f"{SELECTION}.named_by", f"{SELECTION}.member"
IN_CALL = "sandbox_call"
PLACEHOLDER = re.compile(r"\$[A-Z][A-Z_]+")
CALL = re.compile(r"(\$NAMESPACE\.\$[A-Z_]+)\(")
KEYS: Mapping[str, tuple[str, ...]] = {
    "$NAMESPACE": (f"{API}.namespace", f"{API}.arguments", f"{API}.prelude"),
    "$GET_PRIVATE_KEY": (f"{API}.get_private_key",),
    "$SIGN_MESSAGE": (f"{API}.sign_message",),
    "$SIGN_DIGEST": (f"{API}.sign_digest",),
    "$WALLET": (NAMED_BY, MEMBER),
    "$MEMBER": (NAMED_BY, MEMBER),
}
"""What each placeholder takes from the profile."""


@cache
def names() -> tuple[str, ...]:
    """The names of all sources; those in `fixtures/hostile` carry the folder, as in `hostile/loop_main`."""
    plain = (path.stem for path in (fixtures() / "actions").glob("*.js"))
    hostile = (f"hostile/{path.stem}" for path in (fixtures() / "hostile").glob("*.js"))
    return tuple(sorted([*plain, *hostile]))


@cache
def template(name: str) -> str:
    """The file of a source. KeyError: there is none."""
    if name not in names():
        raise KeyError(name)
    folder = fixtures() if "/" in name else fixtures() / "actions"
    return (folder / f"{name}.js").read_text(encoding="utf-8")


@cache
def needs(name: str) -> frozenset[str]:
    """The keys of the profile that a source takes names from. KeyError: there is no such source."""
    return frozenset(key for placeholder in PLACEHOLDER.findall(template(name)) for key in KEYS[placeholder])


def namespace(read: Reader) -> str:
    """What has the sandbox's calls; `globalThis` where the profile names nothing. A prelude may make it."""
    return _text("$NAMESPACE", read) if read(f"{API}.namespace") else "globalThis"


def source(name: str, profile: Profile, mark: str = "") -> str:
    """The code to run on the profile's node.

    A mark is added as a final comment, so that the action has a CID of its own. ProfileSilent: the profile leaves out a
    name that the source needs. KeyError: there is no such source.
    """

    def read(key: str) -> object:
        return value_at(profile, key)

    code = template(name)
    if CALL.search(code) and _stated(f"{API}.arguments", read) == "positional":
        code = CALL.sub(r"((call) => \1(...Object.values(call)))(", code)
    with read_aside():  # a failure says nothing of a prelude that is not stated
        prelude = _stated(f"{API}.prelude", read) if "$NAMESPACE" in code else ""
    code = f"{prelude}\n" * bool(prelude) + PLACEHOLDER.sub(lambda match: _text(match[0], read), code)
    return f"{code}// {mark}\n" if mark else code


def _text(placeholder: str, read: Reader) -> str:
    if placeholder not in {"$WALLET", "$MEMBER"}:
        return _stated(KEYS[placeholder][0], read).replace("{title}", _stated("brand.title", read))
    named_by, member = _stated(NAMED_BY, read), json.dumps(_stated(MEMBER, read))
    if placeholder == "$WALLET":
        return f"{{ {member}: params[{member}] }}" if named_by == IN_CALL else "{}"
    if named_by != IN_CALL:
        raise ProfileSilent(f"a profile whose {NAMED_BY} is {IN_CALL}", f"one whose runs name one wallet: {named_by}")
    return member


def _stated(key: str, read: Reader) -> str:
    value = read(key)
    if value is None:
        raise ProfileSilent(f"a profile that says {key}", "a profile that leaves it out")
    return str(value)


def parameters(pkp_id: object, members: Mapping[str, object], read: Reader) -> dict[str, object]:
    """`jsParams` of a run with this wallet, which stands in the member that the profile names."""
    return {_stated(MEMBER, read): pkp_id, **members}
