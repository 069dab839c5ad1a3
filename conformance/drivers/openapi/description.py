"""Reads the node's OpenAPI description and the schemas of its answers ("Versioning")."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from urllib.parse import urljoin, urlsplit

from jsonschema.protocols import Validator
from openapi_schema_validator import OAS30ReadValidator, OAS31Validator, OAS32Validator
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012, EMPTY_REGISTRY, SchemaRegistry

from conformance.drivers.openapi.bounds import at, bounded, check_size, without_unbounded
from conformance.drivers.sections import set_up
from conformance.problems import BeyondLimits, Malformed, Mismatch, SetupFailed
from conformance.service.accounts import Accounts
from conformance.service.session import Session
from conformance.values.addresses import CORE, authority_of
from conformance.values.json_values import MISSING, member, printed
from conformance.values.shown_text import cut

METHODS = frozenset({"GET", "PUT", "POST", "DELETE", "OPTIONS", "HEAD", "PATCH", "TRACE", "QUERY"})
DESCRIPTION_PATH = f"{CORE}/openapi.json"
DOCUMENT = "urn:openapi"
"""The URI of the document, by which its schemas refer to each other."""

REFERENCES = ("$ref", "$dynamicRef", "operationRef")
"""The members by which one part of a description refers to another."""
UNUSABLE = (Unresolvable, RecursionError)
"""What validators raise where a reference leads nowhere, or to itself."""
MOST_FAULTS = 50
"""Violations of a schema that are looked at."""
MOST_SERVERS = 20
"""Servers of a description, or of one of its operations, that are looked at: each has every path."""
VALIDATORS: dict[str, type[Validator]] = {"3.0": OAS30ReadValidator, "3.1": OAS31Validator, "3.2": OAS32Validator}
"""Validators by the first two numbers of the member `openapi`: each version has its own dialect of JSON Schema."""


@dataclass(frozen=True)
class Described:
    """An operation of the description."""

    pointer: str
    """The JSON pointer to it."""
    value: Mapping[str, object]


class Description:
    """An OpenAPI document, version 3."""

    def __init__(self, document: Mapping[str, object], url: str) -> None:
        self.document = document
        self.url = url

    @cached_property
    def judged(self) -> dict[str, object]:
        """The document without the parts of its schemas that no answer is judged by."""
        return {name: without_unbounded(value) for name, value in self.document.items()}

    @property
    def version(self) -> str:
        """The first two numbers of the member `openapi`."""
        stated = re.match(r"[0-9]+\.[0-9]+", printed(self.document.get("openapi")))
        return stated[0] if stated else ""

    @cached_property
    def operations(self) -> dict[tuple[str, str], Described]:
        """Operations by method in capitals and path under the node's address."""
        return {
            (method.upper(), path): Described(f"/paths/{_escaped(stated)}/{method}", operation)
            for stated, item in _members(self.document.get("paths"))
            for method, operation in _members(item)
            if method.upper() in METHODS and isinstance(operation, dict)
            for path in self._paths(stated, member(operation, "servers"), member(item, "servers"))
        }

    def _paths(self, stated: str, *servers: object) -> list[str]:
        """A path under the node's address: after the prefix of each server, or as it is where none is stated.

        A server elsewhere, or with variables in its URL, may stand for this node by any prefix: then also as it is.
        """
        stated_servers = (*servers, self.document.get("servers"))
        nearest: list[object] = next((array for array in stated_servers if isinstance(array, list) and array), [])
        node, found = urlsplit(self.url), []
        for url in [url for server in nearest[:MOST_SERVERS] if isinstance(url := member(server, "url"), str)]:
            at = urlsplit(urljoin(self.url, url))
            found.append((at.path.rstrip("/") + stated).removeprefix(node.path.removesuffix(DESCRIPTION_PATH)))
            if authority_of(at.geturl()) != authority_of(self.url) or "{" in url:
                found.append(stated)
        return list(dict.fromkeys(found or [stated]))

    def response(self, operation: Described, status: int) -> Described | None:
        """The response described for a status, for its class (`4XX`) or by default; None where none is."""
        for name in (str(status), f"{status // 100}XX", f"{status // 100}xx", "default"):
            response = member(operation.value.get("responses"), name)
            if response is not MISSING:
                return self._resolved(response, f"{operation.pointer}/responses/{name}")
        return None

    def needed_in_query(self, operation: Described) -> list[str]:
        """The names of the query parameters that an operation requires by its own description or its path's."""
        parameters = self.query_parameters(operation).items()
        return [name for name, parameter in parameters if parameter.get("required") is True]

    def query_parameters(self, operation: Described) -> dict[str, Mapping[str, object]]:
        """The query parameters of an operation, by its own description or its path's, by name."""
        item = operation.pointer.rpartition("/")[0]
        found: dict[str, Mapping[str, object]] = {}
        for pointer in (f"{item}/parameters", f"{operation.pointer}/parameters"):
            stated = self._at(pointer)
            for number, parameter in enumerate(stated if isinstance(stated, list) else []):
                described = self._resolved(parameter, f"{pointer}/{number}").value
                if described.get("in") == "query":
                    found[printed(described.get("name"))] = described
        return found

    def body_schema(self, operation: Described) -> str | None:
        """The pointer to the schema of an operation's JSON body; None where none is described."""
        if "requestBody" not in operation.value:
            return None
        body = self._resolved(operation.value["requestBody"], f"{operation.pointer}/requestBody")
        for media, content in _members(body.value.get("content")):
            if (
                media.partition(";")[0].strip().lower() == "application/json"
                and member(content, "schema") is not MISSING
            ):
                return f"{body.pointer}/content/{_escaped(media)}/schema"
        return None

    def security(self, operation: Described) -> list[list[str]]:
        """The alternatives of what a request has to bear, each by the names of its security schemes with a key."""
        stated = operation.value.get("security", self.document.get("security"))
        alternatives = [one for one in stated if isinstance(one, dict)] if isinstance(stated, list) else []
        return [[name for name in one if self._bears_a_key(name)] for one in alternatives]

    def _bears_a_key(self, scheme: str) -> bool:
        return self._at(f"/components/securitySchemes/{_escaped(scheme)}/type") in ("apiKey", "http")

    def _resolved(self, value: object, pointer: str) -> Described:
        """The object itself, or the object in the document that its `$ref` names."""
        seen: set[str] = set()
        while isinstance(reference := member(value, "$ref"), str):
            if not reference.startswith("#/") or reference in seen:
                raise Mismatch("a reference inside the OpenAPI description", reference)
            seen.add(reference)
            pointer, value = reference[1:], self._at(reference[1:])
        if not isinstance(value, dict):
            raise Mismatch(f"an object at {pointer} of the OpenAPI description", printed(value))
        return Described(pointer, value)

    def at(self, reference: str) -> object:
        """What a reference inside the document names; MISSING where it names nothing there."""
        return self._at(reference[1:]) if reference.startswith("#/") else MISSING

    def _at(self, pointer: str) -> object:
        return at(self.document, pointer)

    @cached_property
    def _leads_to_itself(self) -> str | None:
        """A reference that leads to itself through references alone, on which validators would recurse."""
        ends: set[str] = set()
        for found in _references(self.document):
            seen: set[str] = set()
            reference: object = found
            while isinstance(reference, str) and reference.startswith("#/") and reference not in ends:
                if reference in seen:
                    return reference
                seen.add(reference)
                reference = member(self._at(reference[1:]), "$ref")
            ends |= seen
        return None

    def faults(self, pointer: str, value: object) -> list[str]:
        """The first violations of the schema at a pointer; empty for a valid value.

        BeyondLimits: they are not found in a limited number of steps. SetupFailed: its references lead nowhere, so the
        document is not valid, which is not about this answer.
        """
        expected = "references in the OpenAPI description that lead to schemas"
        if self._leads_to_itself is not None:
            raise SetupFailed(expected, cut(self._leads_to_itself, 300))
        try:
            found = self._validator(pointer).iter_errors(value)  # type: ignore[arg-type]  # parsed from JSON
            return [
                f"{'.'.join(map(str, fault.absolute_path)) or 'the answer'}: {fault.message}"
                for fault in islice(found, MOST_FAULTS)
            ]
        except UNUSABLE as problem:
            raise SetupFailed(expected, cut(f"{problem}", 300)) from problem

    def _validator(self, pointer: str) -> Validator:
        dialect = VALIDATORS.get(self.version)
        if dialect is None:
            raise Mismatch(f"an OpenAPI description of version {', '.join(VALIDATORS)}", self.version)
        return bounded(dialect)({"$ref": f"{DOCUMENT}#{pointer}"}, registry=self._registry)

    @cached_property
    def _registry(self) -> SchemaRegistry:
        registry: SchemaRegistry = EMPTY_REGISTRY.with_resource(DOCUMENT, DRAFT202012.create_resource(self.judged))
        return registry


def _members(value: object) -> Iterator[tuple[str, object]]:
    return iter(value.items()) if isinstance(value, dict) else iter(())


def _escaped(part: str) -> str:
    return part.replace("~", "~0").replace("/", "~1")


def read_description(session: Session) -> Description:
    """Fetch the node's description. Raises Malformed; SetupFailed where it is refused or refers to other documents."""
    with set_up():
        answer = session.call("openapi", reader_key(session))
    document = answer.value
    if not isinstance(document, dict) or not isinstance(document.get("paths"), dict):
        raise Malformed("an OpenAPI description with paths", cut(printed(document), 300), answer.exchange)
    try:
        check_size(document)
    except BeyondLimits as problem:
        problem.exchange = answer.exchange
        raise
    if outside := next((one for one in _references(document) if not one.startswith("#")), None):
        expected = "an OpenAPI description in one document: the suite follows no reference to another"
        raise SetupFailed(expected, cut(outside, 300), answer.exchange)
    return Description(document, session.target.base_url + session.target.operation("openapi").path)


def _references(document: object) -> Iterator[str]:
    """All references, those to other documents too: libraries would fetch these, also files of the machine."""
    left = [document]
    while left:
        part = left.pop()
        if isinstance(part, dict):
            references = (part.get(name) for name in REFERENCES)
            yield from (one for one in references if isinstance(one, str))
            left += part.values()
        elif isinstance(part, list):
            left += part


def reader_key(session: Session) -> str | None:
    """The key that opens the description: None, or that of a fresh account where the profile requires one."""
    if session.profile.auth.openapi_public is not False:
        return None
    return Accounts(session).new("reads the description", spends=False).key


def named(operations: Sequence[tuple[str, str]]) -> str:
    """Method and path of operations, for a message."""
    return ", ".join(f"{method} {path}" for method, path in operations)
