"""What people open in a browser: the page at `/`, the OpenAPI description and its viewer.

The pages link by relative addresses, so that they work behind any proxy.
"""

from __future__ import annotations

from html import escape
from importlib.resources import files

from fastapi import FastAPI, Request, Response
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.responses import HTMLResponse, JSONResponse
from fastapi.staticfiles import StaticFiles

from reference_node.public_address import PREFIX, prefix_of

DESCRIPTION, VIEWER = f"{PREFIX}/openapi.json", f"{PREFIX}/swagger-ui"

ASSETS = f"{VIEWER}-assets"
"""Where the viewer's scripts and styles are, so that it loads nothing from other sites."""

FRONT_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
{base}<title>{title}</title>
<style>body {{ font: 1rem/1.5 system-ui, sans-serif; max-width: 40rem; margin: 3rem auto; padding: 0 1rem }}</style>
<h1>{title}</h1>
<p>This address answers programs. What there is for people:</p>
<ul>
<li><a href="{api}/swagger-ui">The viewer</a>: every operation, to read and to try.</li>
<li><a href="{api}/openapi.json">The OpenAPI description</a>, for generators of clients.</li>
<li><a href="{api}/get_node_chain_config">The chain and its contract</a>, which hold who may do what,
and <a href="abi/AccountConfig.json">the contract's ABI</a>.</li>
<li><a href="info">What runs here</a>, and <a href="attestation">the attestation</a> of it.</li>
</ul>
<p>Begin with <code>POST {prefix}/{api}/new_account</code>: its answer holds the key of an account.</p>
</html>
"""


def add_pages(app: FastAPI) -> None:
    """Serve them all, outside of the description itself."""

    async def front_page(request: Request) -> HTMLResponse:
        prefix = escape(prefix_of(request.scope))
        base = f'<base href="{prefix}/">\n' if prefix else ""  # without it, a prefix without a slash misleads links
        api = PREFIX.removeprefix("/")
        return HTMLResponse(FRONT_PAGE.format(title=escape(app.title), base=base, api=api, prefix=prefix))

    latest: dict[object, bytes] = {}
    """The last description that was written. It has 140 kB, and envelopes that are signed for the present second."""

    async def description(request: Request) -> Response:
        url = request.scope["public_address"].url
        told = (url, app.state.node.clock.now())
        if told not in latest:
            written = JSONResponse({**app.openapi(), "servers": [{"url": url}]} if url else app.openapi())
            latest.clear()
            latest[told] = bytes(written.body)
        return Response(latest[told], media_type="application/json")

    async def viewer(_request: Request) -> HTMLResponse:
        assets = ASSETS.rpartition("/")[2]
        return get_swagger_ui_html(
            openapi_url=DESCRIPTION.rpartition("/")[2],
            title=f"{app.title} - Swagger UI",
            swagger_js_url=f"{assets}/swagger-ui-bundle.js",
            swagger_css_url=f"{assets}/swagger-ui.css",
            swagger_favicon_url=f"{assets}/favicon.png",
        )

    app.mount(ASSETS, StaticFiles(directory=str(files("fastapi_offline") / "static")))
    for path, page in (("/", front_page), (DESCRIPTION, description), (VIEWER, viewer)):
        app.add_route(path, page, include_in_schema=False)
