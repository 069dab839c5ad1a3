"""Tests for the drivers that judge an OpenAPI description as a whole, and its viewer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from http_server import Answer, Request, serve

from conformance.drivers.openapi.document import OF_ACCOUNTS, OPEN, check_document, check_viewer
from conformance.endpoints.client import Target
from conformance.problems import Mismatch, SetupFailed
from conformance.profile import Profile, resolve
from conformance.service.session import Session

DESCRIPTION = "/core/v1/openapi.json"
VIEWER = "/core/v1/swagger-ui"
Page = tuple[int, dict[str, str], str]


@pytest.fixture
def pages() -> dict[str, Page]:
    """Method and path to what is answered; everything else is a 404."""
    return {}


@pytest.fixture
def session(pages: dict[str, Page]) -> Iterator[Session]:
    def answer(request: Request) -> Answer:
        status, headers, text = pages.get(f"{request.method} {request.target}", (404, {}, ""))
        return Answer(status, text.encode(), tuple(headers.items()))

    with serve(answer) as url, Target(url, Profile()) as target:
        yield Session(target, "versioning::only")


def whole_document() -> dict[str, Any]:
    paths: dict[str, dict[str, object]] = {}
    for name in OPEN | OF_ACCOUNTS:
        operation = resolve(Profile(), name)
        described = {"responses": {"200": {"description": "d"}}}
        paths.setdefault(operation.path, {})[operation.method.lower()] = described
    return {"openapi": "3.1.0", "info": {"title": "T", "version": "1"}, "paths": paths}


def json_page(value: object) -> Page:
    return 200, {"content-type": "application/json"}, json.dumps(value)


def referring(reference: str, **schemas: object) -> Page:
    """A document in which the answer of an endpoint refers to this schema."""
    document = whole_document()
    content = {"application/json": {"schema": {"$ref": reference}}}
    document["paths"]["/core/v1/add_group"]["post"] = {"responses": {"200": {"description": "d", "content": content}}}
    return json_page({**document, "components": {"schemas": schemas}})


@pytest.mark.parametrize("reference", ["#/components/schemas/Absent", "#/components/schemas/Itself", "#absent"])
def test_document_whose_references_lead_nowhere_is_told(
    session: Session, pages: dict[str, Page], reference: str
) -> None:
    pages[f"GET {DESCRIPTION}"] = referring(reference, Itself={"$ref": "#/components/schemas/Itself"})
    with pytest.raises(Mismatch, match="valid OpenAPI description"):
        check_document(session)


def test_files_that_a_document_refers_to_are_not_read(session: Session, pages: dict[str, Page], tmp_path: Path) -> None:
    file = tmp_path / "own.json"
    file.write_text('{"type": "a secret of this machine"}', encoding="utf-8")
    pages[f"GET {DESCRIPTION}"] = referring(file.as_uri())
    with pytest.raises(SetupFailed, match=r"in one document: .*own\.json") as told:
        check_document(session)
    assert "secret" not in str(told.value)


def test_document_without_a_served_further_endpoint_is_told(session: Session, pages: dict[str, Page]) -> None:
    pages[f"GET {DESCRIPTION}"] = json_page(whole_document())
    pages["POST /core/v1/service_action"] = (401, {}, "")
    with pytest.raises(Mismatch, match="service_action"):
        check_document(session)


HTML = {"content-type": "text/html; charset=utf-8"}


VIEWERS: dict[str, dict[str, Page]] = {
    "by itself": {f"GET {VIEWER}": (200, HTML, f"<script>show('{DESCRIPTION}')</script>")},
    "by a script after a redirect": {
        f"GET {VIEWER}": (308, {"location": f"{VIEWER}/"}, ""),
        f"GET {VIEWER}/": (200, HTML, '<SCRIPT async src="./start.js"></SCRIPT>'),
        f"GET {VIEWER}/start.js": (200, {"content-type": "text/javascript"}, f"url: '{DESCRIPTION}'"),
    },
    "by configuration": {
        f"GET {VIEWER}": (303, {"location": f"{VIEWER}/index.html"}, ""),
        f"GET {VIEWER}/index.html": (200, HTML, '<script>show({configUrl: "./config.json"})</script>'),
        f"GET {VIEWER}/config.json": json_page({"url": "../openapi.json"}),
    },
    "by a scripts configuration": {
        f"GET {VIEWER}": (200, HTML, '<script src="swagger-ui/start.js"></script>'),
        f"GET {VIEWER}/start.js": (200, {"content-type": "text/javascript"}, "ui({'configUrl': '/config'})"),
        "GET /config": json_page({"urls": [{"url": DESCRIPTION}]}),
    },
    "by address": {
        f"GET {VIEWER}": (302, {"location": f"{VIEWER}/?url=%2Fcore%2Fv1%2Fopenapi.json"}, ""),
        f"GET {VIEWER}/?url=%2Fcore%2Fv1%2Fopenapi.json": (200, HTML, "<p>a viewer</p>"),
    },
    "by a script from the base of the page": {
        f"GET {VIEWER}": (303, {"location": f"{VIEWER}/"}, ""),
        f"GET {VIEWER}/": (200, HTML, '<base href="../"><script src="start.js"></script>'),
        f"GET {VIEWER.rpartition('/')[0]}/start.js": (200, {}, f"url: '{DESCRIPTION}'"),
    },
    "by holding it": {
        f"GET {VIEWER}": (200, HTML, '<script src="swagger-ui/start.js"></script>'),
        f"GET {VIEWER}/start.js": (200, {}, f"show({{swaggerDoc: {json.dumps(whole_document())}}})"),
    },
}
"""What is served, by the way in which the viewer refers to the description."""


@pytest.mark.parametrize("served", VIEWERS.values(), ids=VIEWERS)
def test_viewer_that_refers_to_the_description_passes(
    session: Session, pages: dict[str, Page], served: dict[str, Page]
) -> None:
    pages.update(served)
    check_viewer(session)
