"""The drivers `openapi_document` and `openapi_viewer`: the description is valid and complete, and a page shows it.

Specification, "Versioning". The description must contain the endpoints of the profile's capabilities, and all others
that the node serves: those that answer a request without a key otherwise than by 404 or 405.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from html import unescape
from typing import Literal
from urllib.parse import unquote, urljoin

from openapi_spec_validator import validate
from openapi_spec_validator.validation.exceptions import OpenAPIValidationError, ValidatorDetectError

from conformance.drivers.openapi.description import UNUSABLE, Description, named, read_description, reader_key
from conformance.drivers.steps.caserun import CaseRun
from conformance.endpoints.messages import Answer, Message
from conformance.language.models import CaseForm
from conformance.language.templates import CompileContext
from conformance.problems import Mismatch, NotAccepted, ProfileSilent
from conformance.profile import Operation
from conformance.profile.operations import BILLING, GROUPS, INFORMATION, MANAGEMENT, WALLET_SIGNED, WALLETS_AND_ACTIONS
from conformance.profile.reading import tell
from conformance.service.acceptance import raise_for_trouble
from conformance.service.session import Session
from conformance.values.addresses import authority_of
from conformance.values.shown_text import cut

THE_DESCRIPTION_ITSELF = frozenset({"openapi", "swagger_ui"})
OPEN = (INFORMATION.keys() | {"get_action_ipfs_id"}) - THE_DESCRIPTION_ITSELF
OF_ACCOUNTS = (MANAGEMENT.keys() | GROUPS.keys() | WALLETS_AND_ACTIONS.keys()) - {"get_action_ipfs_id", "run_action"}
PATHS = ("brand.", "wire.operations.")
"""How the keys begin that say where an operation is."""
OTHERS = (*BILLING, *WALLET_SIGNED, "run_action")
NOT_SERVED = frozenset({404, 405, 501})
MOST_REDIRECTS = 5
MOST_SCRIPTS = 10
SCRIPT = re.compile(r"""<script[^<>]*\bsrc\s*=\s*["']?([^"'\s>]+)""", re.IGNORECASE)
BASE = re.compile(r"""<base[^<>]*\bhref\s*=\s*["']?([^"'\s>]+)""", re.IGNORECASE)
JAVASCRIPT = re.compile(
    r"(?:application|text)/(?:x-)?(?:java|ecma)script|text/(?:javascript1\.[0-5]|jscript|livescript)"
)
"""The JavaScript types (WHATWG MIME Sniffing, 4.6)."""
ADDRESS = re.compile(
    r"""(?:\burl["']?\s*:|\b(?:spec|data|document)-url\s*=)\s*(["'])(?P<url>[^"']+)\1(?!\s*\+)""",
    re.IGNORECASE,
)
"""Where a page writes the whole address of the description: Swagger UI's `url`, other viewers' `spec-url`."""
CONFIGURATION = re.compile(r"""\bconfigUrl["']?\s*[:=]\s*["']?([^"'\s&,}]+)""")
"""Where a viewer like Swagger UI finds the address of the description, if not in its page."""


class OpenApiDocumentCase(CaseForm):
    """Checks the node's OpenAPI description."""

    driver: Literal["openapi_document"]


class OpenApiViewerCase(CaseForm):
    """Checks the interactive viewer of the description."""

    driver: Literal["openapi_viewer"]


def compile_document(_: OpenApiDocumentCase, context: CompileContext) -> Callable[[CaseRun], None]:
    """Compile a check that the document is valid and lists every endpoint with its method."""
    context.info.needs.add("openapi")
    context.info.operations.add("openapi")
    return check_document


def check_document(session: Session) -> None:
    """Raise Mismatch for the first fault of the document, or for missing endpoints."""
    description = read_description(session)
    last = session.last_exchange
    try:
        validate(description.judged)
    except (OpenAPIValidationError, ValidatorDetectError, *UNUSABLE) as problem:
        raise Mismatch("a valid OpenAPI description", cut(str(problem), 600), last) from problem
    claimed = OPEN | (OF_ACCOUNTS if session.profile.offers("managed_accounts") else frozenset())
    absent = _absent(description, session, sorted(claimed))
    absent += [operation for operation in _absent(description, session, OTHERS) if _is_served(session, operation)]
    if absent:
        for key, value in (item for operation in absent for item in operation.keys.items()):
            if key.startswith(PATHS):
                tell(key, value)
        missing = named([(operation.method, operation.path) for operation in absent])
        raise Mismatch("every endpoint that the node serves in its OpenAPI description", f"one without {missing}", last)


def _absent(description: Description, session: Session, names: Sequence[str]) -> list[Operation]:
    return [
        operation
        for name in names
        if (operation := _known(session, name)) and (operation.method, operation.path) not in description.operations
    ]


def _known(session: Session, name: str) -> Operation | None:
    try:
        return session.target.operation(name)
    except ProfileSilent:
        return None


def _is_served(session: Session, operation: Operation) -> bool:
    """Whether the node serves the path: its answer differs from that of an unknown path."""
    nowhere = f"/core/v1/{session.random.getrandbits(64):x}"
    of_nowhere = _probed(session, operation.method, nowhere)
    return _probed(session, operation.method, operation.path) not in NOT_SERVED | {of_nowhere}


def _probed(session: Session, method: str, path: str) -> int:
    body = None if method == "GET" else "{}"
    headers = {} if body is None else {"Content-Type": "application/json"}
    answer = session.target.exchange(Message(method, path, headers, body), session.log)
    raise_for_trouble(answer, NOT_SERVED)
    return answer.status


def compile_viewer(_: OpenApiViewerCase, context: CompileContext) -> Callable[[CaseRun], None]:
    """Compile a check that the viewer's page refers to the description or contains it, itself or in what it loads."""
    context.info.needs.add("openapi")
    context.info.operations.add("swagger_ui")
    return check_viewer


def check_viewer(session: Session) -> None:
    """Raise Mismatch unless the page, its scripts or their configuration name the description or contain it."""
    start = session.target.base_url + session.target.operation("swagger_ui").path
    headers = {"Accept": "text/html", "X-Api-Key": reader_key(session)}
    sent = {name: value for name, value in headers.items() if value is not None}
    url, page = _page(session, start, sent)
    if not page.headers.get("content-type", "").lower().startswith("text/html"):
        raise Mismatch("an HTML page", f"content-type {page.headers.get('content-type')}", page.exchange)
    description = session.target.operation("openapi").path.rpartition("/")[2]
    held = [session.target.operation(name).path.rpartition("/")[2] for name in sorted(INFORMATION.keys() & OPEN)]
    stated = BASE.search(page.text)
    base = urljoin(url, unescape(stated[1])) if stated else url
    _must_find_description(session, base, page, description, sent)
    scripts = _own_scripts(session, base, page.text, sent)
    _must_run(scripts)
    shown = f"{unquote(url)} {page.text}"
    for text in _texts(session, base, shown, scripts, sent):
        if description in text or all(path in text for path in held):
            return
    raise Mismatch(f"a page that refers to {description}, itself or in a script", cut(page.text, 300), page.exchange)


def _must_find_description(session: Session, base: str, page: Answer, name: str, headers: dict[str, str]) -> None:
    """Raise Mismatch where the page writes addresses of the description on this node, and none of them has it."""
    host = authority_of(session.target.base_url)
    written = [urljoin(base, unescape(found["url"])) for found in ADDRESS.finditer(page.text)]
    addresses = [address for address in written if name in address and authority_of(address) == host]
    if not addresses:
        return
    for address in addresses[:MOST_SCRIPTS]:
        answer = session.target.exchange(Message("GET", address, headers, None), session.log)
        raise_for_trouble(answer)
        if answer.accepted:
            return
    raise Mismatch(
        f"a page that loads {name} from where it is", f"{addresses[0]}: status {answer.status}", answer.exchange
    )


def _own_scripts(session: Session, base: str, page: str, headers: dict[str, str]) -> list[Answer]:
    """The answers to requests for the page's scripts that this node serves."""
    host = authority_of(session.target.base_url)
    own = [script for source in SCRIPT.findall(page) if authority_of(script := urljoin(base, source)) == host]
    return [_redirected(session, script, headers)[1] for script in own[:MOST_SCRIPTS]]


def _must_run(scripts: Sequence[Answer]) -> None:
    """Raise Mismatch where no script is there, or where browsers do not run one (HTML, "Fetching scripts")."""
    if scripts and not any(script.accepted for script in scripts):
        raise Mismatch("a page whose scripts are there", f"status {scripts[0].status}", scripts[0].exchange)
    for script in scripts:
        nosniff = script.headers.get("x-content-type-options", "").partition(",")[0].strip().lower() == "nosniff"
        kind = script.headers.get("content-type", "").partition(";")[0].strip().lower()
        if script.accepted and nosniff and not JAVASCRIPT.fullmatch(kind):
            expected = "scripts of a JavaScript type beside X-Content-Type-Options: nosniff, which browsers run"
            raise Mismatch(expected, f"content-type {kind or 'none'}", script.exchange)


def _texts(
    session: Session, base: str, shown: str, scripts: Sequence[Answer], headers: dict[str, str]
) -> Iterator[str]:
    """What a viewer shows: its address with its page, the node's scripts in it, and configurations that they name."""
    host = authority_of(session.target.base_url)
    yield shown
    configurations = CONFIGURATION.findall(shown)
    for script in scripts:
        yield script.text
        configurations += CONFIGURATION.findall(script.text)
    addresses = dict.fromkeys(urljoin(base, configuration) for configuration in configurations)
    for configuration in [address for address in addresses if authority_of(address) == host][:MOST_SCRIPTS]:
        yield _page(session, configuration, headers)[1].text


def _page(session: Session, url: str, headers: dict[str, str]) -> tuple[str, Answer]:
    """Fetch a URL that must be there, following redirects. Returns its final URL and the answer."""
    final, answer = _redirected(session, url, headers)
    raise_for_trouble(answer)
    if not answer.accepted:
        raise NotAccepted("acceptance (2xx)", f"status {answer.status}: {cut(answer.text, 300)}", answer.exchange)
    return final, answer


def _redirected(session: Session, url: str, headers: dict[str, str]) -> tuple[str, Answer]:
    """Fetch a URL, following redirects. Returns its final URL and the answer."""
    for _ in range(MOST_REDIRECTS):
        answer = session.target.exchange(Message("GET", url, headers, None), session.log)
        location = answer.headers.get("location")
        if not 300 <= answer.status < 400 or location is None:
            return url, answer
        url = urljoin(url, location)
    raise Mismatch(f"a page after at most {MOST_REDIRECTS} redirects", url, session.last_exchange)
