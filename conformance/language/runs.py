"""Functions of `let` for runs of actions: their code, their parameters, their results and signers.

Specification, "Endpoints / Wallets and actions" (run action) and "Endpoints / Execution rule".
"""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import JsonValue

from conformance.language.functions import function, prepares, relies_on
from conformance.language.scope import Scope
from conformance.language.templates import CompileContext
from conformance.problems import Mismatch, UnknownName
from conformance.service import runs
from conformance.service.action_sources import IN_CALL, MEMBER, NAMED_BY, names, needs, parameters, source_for
from conformance.values.json_values import printed


@function
def action_source(scope: Scope, name: object, mark: object = "") -> str:
    """The code of an action in `fixtures/actions` for this node. A mark changes its CID."""
    try:
        return source_for(printed(name), scope.profile, printed(mark))
    except KeyError:
        raise Mismatch(f"one of the actions {', '.join(names())}", printed(name)) from None


@prepares("action_source")
def _note_source(arguments: Sequence[JsonValue], context: CompileContext) -> None:
    """Note the profile keys that the action's code depends on."""
    name = str(arguments[0])
    if "${" in name:
        return
    if name not in names():
        raise context.problem(UnknownName, f"no action is called {name!r}; there are {', '.join(names())}")
    needed = needs(name)
    context.info.uses |= needed.uses
    if needed.names_wallets_itself:
        context.info.stated.append((NAMED_BY, [IN_CALL]))


@function
@relies_on(MEMBER)
def run_params(scope: Scope, pkp_id: object, members: object = None) -> dict[str, object]:
    """`jsParams` that name a wallet in the member that the profile states, together with other members."""
    if not isinstance(members, dict | None):
        raise Mismatch("an object as further parameters", printed(members))
    return parameters(pkp_id, members or {}, scope.profile)


@function
@relies_on(runs.RESPONSE_FORM)
def returned(scope: Scope, response: object) -> object:
    """The value that `main` returned, read from a `response` by the profile's `exec.response_form`."""
    return runs.returned(response, scope.lookup("profile", runs.RESPONSE_FORM.split(".")))


@function
def recover_message(_: Scope, text: object, signature: object) -> str:
    """The address that signed a text by EIP-191, in EIP-55 form."""
    return runs.signer_of_message(printed(text), signature)
