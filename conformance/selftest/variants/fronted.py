"""A node behind a web server with pages of its own, whose refusals are written like its successes."""

from __future__ import annotations

import json
from dataclasses import replace

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from conformance.selftest.tools.alter import CORE, Answered, Forward, Received, answer, change_answer, intercept
from conformance.selftest.tools.alter_execution import RUN
from conformance.selftest.variants.variant import EVERYTHING, Members, choices, members_of
from reference_node.node import Node

OF_MACHINES = (CORE, "/rpc", "/control")
NOT_SERVED = {"not-found", "method-not-allowed"}
HTML = [(b"content-type", b"text/html; charset=utf-8")]
PAGE = b"<!doctype html><title>Dashboard</title>"
NOTHING: Members = {
    "api_key": "",
    "wallet_address": "",
    "usage_api_key": "",
    "derivation_path": "",
    "success": False,
    "group_id": 0,
    "response": None,
    "logs": "refused",
}
"""What a success would hold, with no value."""
MINTS = ("create_wallet_with_signature", "add_usage_api_key_with_signature")


@choices({})
def fronted(node: Node) -> None:
    """Stands behind a web server with pages of its own, and writes refusals like successes.

    Paths outside of the API show a page for people, paths and methods that the API does not have a page that says so;
    a refusal holds the members of a success without values, a refused run what it has logged; the chain configuration
    says that no RPC URL is given, and where to read about the chain.
    """
    intercept(node, (*EVERYTHING, *MINTS, RUN), _like_a_success)
    change_answer(node, "get_node_chain_config", members_of(_with_addresses_for_people))
    node.app.add_middleware(Front)


async def _like_a_success(request: Received, forward: Forward) -> Answered:
    given = await forward(request)
    if given.accepted:
        return given
    told = {**NOTHING, **json.loads(given.body)}
    return replace(given, body=answer(given.status, told).body)


def _with_addresses_for_people(config: Members) -> Members:
    return {**config, "rpc_url": None, "info_url": "https://chain.example", "faucets": ["https://faucet.example"]}


class Front:
    """ASGI layer with pages where the API has no endpoint."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif not scope["path"].startswith(OF_MACHINES):
            await _show(send, 200)
        else:
            sent: list[Message] = []

            async def keep(message: Message) -> None:
                sent.append(message)

            await self._app(scope, receive, keep)
            if _is_of_the_router(sent):
                await _show(send, sent[0]["status"])
                return
            for message in sent:
                await send(message)


def _is_of_the_router(sent: list[Message]) -> bool:
    if sent[0]["status"] not in {404, 405}:
        return False
    told = json.loads(b"".join(message.get("body", b"") for message in sent))
    return told.get("code") in NOT_SERVED


async def _show(send: Send, status: int) -> None:
    await send({"type": "http.response.start", "status": status, "headers": HTML})
    await send({"type": "http.response.body", "body": PAGE})
