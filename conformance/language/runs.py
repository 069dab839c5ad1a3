"""Functions of `let` for runs of actions: what to run, with which wallet, and who signed.

Specification, "Endpoints / Wallets and actions" (run action) and "Endpoints / Execution rule".
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from pydantic import JsonValue

from conformance.language.action_sources import IN_CALL, MEMBER, NAMED_BY, names, needs, parameters, source_for
from conformance.language.functions import function, prepares, relies_on
from conformance.language.scope import Scope
from conformance.language.templates import CompileContext
from conformance.problems import Mismatch, UnknownName
from conformance.values.json_values import printed
from conformance.values.recovery import (
    DIGEST_BYTES,
    KEY_BYTES,
    UnrecoverableError,
    address_of,
    from_hex,
    message_digest,
    signer,
)

RESPONSE_FORM = "exec.response_form"
AS_TEXT = "text"


@function
def action_source(scope: Scope, name: object, mark: object = "") -> str:
    """The code of `fixtures/actions/NAME.js` for this node; a mark makes it an action of its own."""
    try:
        return source_for(printed(name), scope.profile, printed(mark))
    except KeyError:
        raise Mismatch(f"one of the actions {', '.join(names())}", printed(name)) from None


@prepares("action_source")
def _note_source(arguments: Sequence[JsonValue], site: CompileContext) -> None:
    """A case with this source is for nodes whose profile says what stands in it."""
    name = str(arguments[0])
    if "${" in name:
        return
    if name not in names():
        raise site.problem(UnknownName, f"no action is called {name!r}; there are {', '.join(names())}")
    found = needs(name)
    site.facts.uses |= found.uses
    if found.names_wallets_itself:
        site.facts.stated.append((NAMED_BY, [IN_CALL]))


@function
@relies_on(MEMBER)
def run_params(scope: Scope, pkp_id: object, members: object = None) -> dict[str, object]:
    """`jsParams` that name a wallet as the profile says, beside other members."""
    if not isinstance(members, dict | None):
        raise Mismatch("an object as further parameters", printed(members))
    return parameters(pkp_id, members or {}, scope.profile)


@function
@relies_on(RESPONSE_FORM)
def returned(scope: Scope, response: object) -> object:
    """What `main` returned, of a `response` in the form that the profile's `exec.response_form` says."""
    if scope.lookup("profile", RESPONSE_FORM.split(".")) != AS_TEXT or not isinstance(response, str):
        return response
    try:
        found: object = json.loads(response)
    except ValueError:
        return response
    return found


@function
def recover_message(_: Scope, text: object, signature: object) -> str:
    """The address that signed a text by EIP-191, in EIP-55 form."""
    return _signer(message_digest(printed(text)), signature)


@function
def recover_digest(_: Scope, digest: object, signature: object) -> str:
    """The address that signed 32 bytes as they are, in EIP-55 form."""
    try:
        raw = from_hex(printed(digest), DIGEST_BYTES, "a digest of 32 bytes in hex")
    except UnrecoverableError as problem:
        raise Mismatch("a digest to hold the signature against", str(problem)) from None
    return _signer(raw, signature)


def _signer(digest: bytes, signature: object) -> str:
    try:
        return signer(digest, printed(signature))
    except UnrecoverableError as problem:
        raise Mismatch("a signature that recovers to a signer", str(problem)) from None


@function
def address_of_private_key(_: Scope, key: object, mask: object = "0x" + "00" * KEY_BYTES) -> str:
    """The address of a private key in hex, in EIP-55 form; of a masked one, with the mask that it was combined with."""
    what = "a private key of 32 bytes in hex"
    try:
        pairs = zip(from_hex(printed(key), KEY_BYTES, what), from_hex(printed(mask), KEY_BYTES, what), strict=True)
        return address_of(bytes(one ^ other for one, other in pairs).hex())
    except UnrecoverableError as problem:
        raise Mismatch(what, str(problem)) from None
