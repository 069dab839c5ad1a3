"""Running actions ("Endpoints / Wallets and actions", "Endpoints / Execution rule")."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from conformance.profile.section import Section, Status, WireName

WORD = r"([A-Za-z_$]|\{title\})([A-Za-z0-9_$]|\{title\})*"
GlobalName = Annotated[str, Field(pattern=rf"^{WORD}(\.{WORD})*$")]
"""A name of JavaScript, or several with dots between them."""


class PkpSelection(Section):
    """How a run names the wallet it uses."""

    named_by: Literal["sandbox_call", "js_params_member"] = "sandbox_call"
    """An argument of the sandbox calls, or a member of `jsParams`."""
    member: WireName = "pkpId"
    """The name of that argument or member."""
    decided: Literal["at_use", "before_run"] = "at_use"
    """When a wallet that is not permitted is refused."""
    swallowed_refusal: Literal["refuses_run", "run_goes_on"] | None = "refuses_run"
    """What becomes of a run whose code catches the refusal of a wallet: the request is refused, or the run goes on
    without the wallet (EXEC-380)."""


class SandboxApi(Section):
    """What the sandbox gives to an action; `{title}` is the brand word. The answers of all calls may be awaited."""

    namespace: GlobalName = "{title}.Actions"
    """The global object that holds the calls."""
    prelude: str = ""
    """JavaScript put before each action of the suite: it defines the calls below where the sandbox has none like them,
    for example a `sign_message` that hashes the text and has the digest signed."""
    arguments: Literal["object", "positional"] = "object"
    """Whether a call takes one object, or the PKP and what it signs one after the other."""
    get_private_key: WireName | None = "getPrivateKey"
    """Takes the PKP; answers its private key."""
    sign_message: WireName | None = "signMessage"
    """Takes the PKP and `message`; answers an EIP-191 signature."""
    sign_digest: WireName | None = "signDigest"
    """Takes the PKP and `digest`; answers a signature over these 32 bytes."""


class FailureAndLimits(Section):
    """The answer to code that throws, does not parse, has no `main`, never ends or exceeds a limit."""

    status: Status = 200
    error_member: WireName | None = "has_error"
    """The member that is true then and false otherwise."""
    message_in_logs: bool = True
    """Whether the message stands at the end of `logs`; a stack may follow it."""
    timeout_seconds: Annotated[float, Field(gt=0)] = 30
    """When a run that never ends is stopped."""


class Execution(Section):
    """Choices about runs."""

    pkp_selection: PkpSelection | None = PkpSelection()
    """EXEC-290."""
    run_without_pkp: Literal["action_only", "group_needs_a_pkp"] | None = "action_only"
    """Whether a run that uses no wallet needs a group that lists one (EXEC-300)."""
    sandbox_api: SandboxApi | None = SandboxApi()
    """EXEC-310."""
    failure_and_limits: FailureAndLimits | None = FailureAndLimits()
    """EXEC-320."""
    response_form: Literal["value", "text", "parsed_text"] | None = "value"
    """How `response` holds what `main` returns: as the JSON value; as a text, the JSON of all but texts; or as
    that text, parsed where it is JSON (EXEC-390)."""
    nothing_returned: Literal["null_or_absent", "empty_text"] | None = "null_or_absent"
    """What `response` is where `main` returns nothing (EXEC-400)."""
    run_by_cid: Literal["refused", "accepted"] | None = "refused"
    """Whether an action may be run by its CID in place of its code (EXEC-360)."""
