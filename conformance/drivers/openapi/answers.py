"""Compares requests and their answers with the OpenAPI description ("Versioning")."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlsplit

from conformance.drivers.openapi.description import Description, read_description
from conformance.endpoints.log import RawExchange
from conformance.endpoints.messages import Answer
from conformance.endpoints.requests import OutgoingRequest
from conformance.problems import Mismatch
from conformance.service.session import Session
from conformance.values.json_text import parse
from conformance.values.json_values import MISSING, member

IN_EITHER_FORM = {"remove_group": "group_id"}
"""Members of bodies whose form the specification leaves open: "u64, a quoted value in the shown body"."""


class DescribedAnswers:
    """Keeps the requests of a case and their answers from now on, to hold them against the OpenAPI description."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._exchanges: list[tuple[OutgoingRequest, Answer]] = []
        session.witnesses.append(lambda request, answer: self._exchanges.append((request, answer)))

    def must_be_as_described(self) -> None:
        """Compare every answer, and each accepted request, in order. Raises Mismatch for the first contradiction."""
        self._session.witnesses.clear()
        description, log = read_description(self._session), self._session.log
        for request, answer in self._exchanges:
            if request.path is None and request.method is None:
                check_answer(description, request, answer)
                if answer.accepted:
                    check_request(description, request, log.raw[answer.exchange - log.forgotten], answer)


def _instead(request: OutgoingRequest, description: Description) -> str:
    """What the description says in place of a status: other statuses, or other paths."""
    operation = request.operation
    described = description.operations.get((operation.method, operation.path))
    responses = described and described.value.get("responses")
    if isinstance(responses, dict):
        return f"the statuses {', '.join(responses)}"
    paths = sorted({path for _, path in description.operations})
    near = [path for path in paths if operation.path.endswith(path.rpartition("/")[2])] or paths
    return f"no such path; it has {', '.join(near[:3])}"


def check_answer(description: Description, request: OutgoingRequest, answer: Answer) -> None:
    """Raise Mismatch for an answer that the description rules out. A refusal that it does not describe passes.

    Where it describes the answer, no key of the profile matters: both are the node's own words.
    """
    name = f"{request.operation.method} {request.operation.path}"
    described = description.operations.get((request.operation.method, request.operation.path))
    response = described and description.response(described, answer.status)
    if response is None:
        if answer.accepted:
            raise Mismatch(
                f"status {answer.status} of {name} in the OpenAPI description",
                _instead(request, description),
                answer.exchange,
            )
        return
    content = response.value.get("content")
    if not isinstance(content, dict) or not content or not answer.text:
        return
    media = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    stated = _entry(content, media)
    if stated is None:
        raise _contradiction(
            f"{name}, status {answer.status}: one of {', '.join(content)}", media or "none", answer.exchange
        )
    if "json" not in media or member(content[stated], "schema") is MISSING:
        return
    pointer = f"{response.pointer}/content/{stated.replace('~', '~0').replace('/', '~1')}/schema"
    faults = description.faults(pointer, parse(answer.text))
    if faults:
        raise _contradiction(
            f"{name}, status {answer.status}, as its schema says", "; ".join(faults[:3]), answer.exchange
        )


def _contradiction(expected: str, got: str, exchange: int) -> Mismatch:
    problem = Mismatch(expected, got, exchange)
    problem.assumed = {}
    return problem


def check_request(description: Description, request: OutgoingRequest, sent: RawExchange, answer: Answer) -> None:
    """Raise Mismatch for a request that was accepted, rightly, and that the description rules out."""
    name = f"{request.operation.method} {request.operation.path}"
    described = description.operations.get((request.operation.method, request.operation.path))
    if described is None:
        return
    alternatives = description.security(described)
    if request.credential is not None and alternatives and all(len(schemes) > 1 for schemes in alternatives):
        expected = f"security of {name} that is met by a key in one header (OpenAPI, Security Requirement Object)"
        raise Mismatch(expected, " or ".join(" with ".join(schemes) for schemes in alternatives), answer.exchange)
    given = {parameter for parameter, _ in parse_qsl(urlsplit(sent.url).query, keep_blank_values=True)}
    for parameter in description.needed_in_query(described):
        if parameter not in given:
            expected = f"{name} without {parameter!r} in its query, as the specification has it"
            raise Mismatch(expected, f"a description that requires {parameter!r}", answer.exchange)
    schema = description.body_schema(described)
    if schema is None or not sent.request_body:
        return
    open_form = f"{IN_EITHER_FORM.get(request.operation.name)}: "
    found = description.faults(schema, parse(sent.request_body))
    faults = [fault for fault in found if not fault.startswith(open_form)]
    if faults:
        raise Mismatch(f"the body of {name} that the specification shows", "; ".join(faults[:3]), answer.exchange)


def _entry(content: dict[str, object], media: str) -> str | None:
    """The most specific name in `content` that covers a media type."""
    ranges = (media, f"{media.partition('/')[0]}/*", "*/*")
    stated = {name.partition(";")[0].strip().lower(): name for name in content}
    return next((stated[name] for name in ranges if name in stated), None)
