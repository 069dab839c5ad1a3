"""The page at `/`, for people who open the node's address in a browser."""

from __future__ import annotations

from html import escape

from fastapi import FastAPI
from fastapi.responses import HTMLResponse

PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>body {{ font: 1rem/1.5 system-ui, sans-serif; max-width: 40rem; margin: 3rem auto; padding: 0 1rem }}</style>
<h1>{title}</h1>
<p>This address answers programs. What there is for people:</p>
<ul>
<li><a href="{prefix}/swagger-ui">The viewer</a>: every operation, to read and to try.</li>
<li><a href="{prefix}/openapi.json">The OpenAPI description</a>, for generators of clients.</li>
<li><a href="{prefix}/get_node_chain_config">The chain and its contract</a>, which hold who may do what,
and <a href="/abi/AccountConfig.json">the contract's ABI</a>.</li>
<li><a href="/info">What runs here</a>, and <a href="/attestation">the attestation</a> of it.</li>
</ul>
<p>Begin with <code>POST {prefix}/new_account</code>: its answer holds the key of an account.</p>
</html>
"""


def add_front_page(app: FastAPI, prefix: str) -> None:
    """Serve the page at `/`, outside the OpenAPI description."""
    page = PAGE.format(title=escape(app.title), prefix=prefix)

    @app.get("/", include_in_schema=False, response_class=HTMLResponse)
    def front_page() -> HTMLResponse:
        return HTMLResponse(page)
