"""A transport for the official SDK that hands requests to a simulator in the same process, without sockets."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

import stripe
from starlette.datastructures import Headers

from reference_node.stripe_simulator.exchange import ApiRequest
from reference_node.stripe_simulator.simulator import StripeSimulator


class InProcessClient(stripe.HTTPClient):
    """An `http_client` for the SDK. Retries and everything else above it are the SDK's own."""

    name = "simulator"

    def __init__(self, simulator: StripeSimulator, sleep: Callable[[float], None] = time.sleep) -> None:
        super().__init__()
        self._simulator = simulator
        self._sleep = sleep

    def request(  # type: ignore[override]
        self, method: str, url: str, headers: Mapping[str, str] | None, post_data: str | None = None
    ) -> tuple[str, int, Mapping[str, str]]:
        """Send a request. Raises the SDK's `APIConnectionError` where the connection is closed."""
        parts = urlsplit(url)
        small = {name.lower(): value for name, value in (headers or {}).items()}
        body = post_data.encode() if post_data else b""
        request = ApiRequest(method.upper(), parts.path, parts.query.encode(), small, body)
        exchange = self._simulator.begin(request)
        self._sleep(exchange.plan.before)
        answer = self._simulator.complete(exchange)
        self._sleep(exchange.plan.after)
        if answer is None:
            message = "The simulator closed the connection."
            raise stripe.APIConnectionError(message, should_retry=True)  # type: ignore[no-untyped-call]
        return answer.body.decode(), answer.status, Headers(answer.headers)

    def close(self) -> None:
        """Do nothing: no resources are held."""
