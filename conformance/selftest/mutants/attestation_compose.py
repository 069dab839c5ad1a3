"""Faults of the application's description: its hash, the compose file inside, and the images that this names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from conformance.selftest.tools.alter import Answered, Forward, Received, intercept, members
from conformance.selftest.tools.alter_attestation import change_info, run_application, run_compose_file
from conformance.selftest.tools.api_keys import header
from conformance.selftest.tools.mutant import mutant
from reference_node.node import Node

Text = Callable[[str], str]


@mutant("ATT-150", also="ATT-130 ATT-250 VER-050")
def compose_hash_has_digits_behind(node: Node) -> None:
    """Answer the compose hash with a zero byte behind it."""
    longer = node.attestation.identity.compose_hash.hex() + "00"
    change_info(node, lambda info: {**info, "compose_hash": longer})


@mutant("ATT-030")
def compose_file_stands_twice(node: Node) -> None:
    """Describe the application with two members `docker_compose_file`, of which readers take either."""
    text = node.attestation.identity.app_compose
    run_application(node, text[:-1] + ',"docker_compose_file":"services: {}"}')


@mutant("ATT-160")
def image_is_not_pinned(node: Node) -> None:
    """Run a compose file with an alias of an image that no digest pins; all of it is measured, shown and registered."""
    unpinned = "  aid:\n    image: *aid\n  ingress:"
    run_compose_file(node, lambda file: "x-aid: &aid 'aid:1'\n" + file.replace("  ingress:", unpinned))


@mutant("ATT-150", also="ATT-030 ATT-130")
def app_compose_names_the_host_of_the_request(node: Node) -> None:
    """Add the host that a request names to the description where it is spelt otherwise than usual."""

    async def handler(request: Received, forward: Forward) -> Answered:
        host = header(request, b"host")
        usual = tuple((name, host.lower().encode() if name == b"host" else value) for name, value in request.headers)
        given = await forward(replace(request, headers=usual))
        if not given.accepted or host == host.lower():
            return given
        info = given.told
        tcb_info = members(info["tcb_info"])
        text = f'{str(tcb_info["app_compose"])[:-1]},"host":"{host}"}}'
        return given.having({**info, "tcb_info": {**tcb_info, "app_compose": text}})

    intercept(node, "/info", handler)
