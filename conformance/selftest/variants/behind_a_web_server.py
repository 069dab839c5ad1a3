"""A correct node behind a web server that has pages of its own; its refusals have the members of successes."""

from __future__ import annotations

import json
from dataclasses import replace

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from conformance.selftest.tools.alter import CORE, Answered, Forward, Received, answer, change_answer, intercept
from conformance.selftest.tools.alter_runs import RUN
from conformance.selftest.variants.variant import EVERYTHING, Members, choices, members_of
from reference_node.node import Node

OF_MACHINES = (CORE, "/rpc", "/control")
NOT_SERVED = {"not-found", "method-not-allowed"}
TYPE, JSON = b"content-type", b"application/json"
LABEL = JSON + b"; charset=iso-8859-1"
HTML = [(TYPE, b"text/html; charset=utf-8")]
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
"""The members of successes, without values."""
MINTS = ("create_wallet_with_signature", "add_usage_api_key_with_signature")


@choices({})
def behind_a_web_server(node: Node) -> None:
    """Show web pages where the API has no endpoint, and give refusals the members of successes.

    Paths outside of the API show a page with status 200; paths and methods that the API lacks, one with 404 or 405. A
    refusal holds the members of a success, without values; that of a run also holds logs. The chain configuration has
    a null for the RPC URL, and URLs of pages about the chain. JSON is labelled as ISO 8859-1, and is UTF-8.
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
    """Shows web pages where the API has no endpoint; an ASGI layer."""

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
                await send(_labelled(message))


def _is_of_the_router(sent: list[Message]) -> bool:
    if sent[0]["status"] not in {404, 405}:
        return False
    told = json.loads(b"".join(message.get("body", b"") for message in sent))
    return told.get("code") in NOT_SERVED


def _labelled(message: Message) -> Message:
    """With the charset that the web server puts on everything; JSON has none but UTF-8 (RFC 8259, 11)."""
    headers = [(name, LABEL if (name, value) == (TYPE, JSON) else value) for name, value in message.get("headers", [])]
    return {**message, "headers": headers} if headers else message


async def _show(send: Send, status: int) -> None:
    await send({"type": "http.response.start", "status": status, "headers": HTML})
    await send({"type": "http.response.body", "body": PAGE})
