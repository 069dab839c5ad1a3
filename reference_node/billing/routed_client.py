"""The transport for the payment provider's SDK: the SDK's own would let a `.netrc` replace the secret key."""

from __future__ import annotations

from collections.abc import Mapping

import httpx
import stripe

from conformance.transport import client


class RoutedClient(stripe.HTTPClient):
    """An `http_client` for the SDK that reaches the network as all of this project does (docs/network.md)."""

    name = "httpx"

    def __init__(self, timeout: float) -> None:
        """`timeout` in seconds, for each wait."""
        super().__init__()
        self._http = client(timeout=timeout)

    def request(  # type: ignore[override]
        self, method: str, url: str, headers: Mapping[str, str] | None, post_data: str | None = None
    ) -> tuple[str, int, Mapping[str, str]]:
        """Send a request. Raises the SDK's `APIConnectionError` where no answer comes."""
        try:
            answer = self._http.request(method, url, headers=headers, content=post_data)
        except (httpx.HTTPError, RuntimeError) as problem:  # the second one where it was closed meanwhile
            message = f"{type(problem).__name__}: {problem}"
            raise stripe.APIConnectionError(message, should_retry=True) from problem  # type: ignore[no-untyped-call]
        return answer.text, answer.status_code, answer.headers

    def close(self) -> None:
        """Close the connections."""
        self._http.close()
