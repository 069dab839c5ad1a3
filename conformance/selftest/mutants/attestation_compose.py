"""Faults of the application's description: its hash, the compose file inside, and the images that this names."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable

from pydantic import JsonValue

from conformance.selftest.tools.alter import members
from conformance.selftest.tools.alter_attestation import (
    Members,
    become,
    change_info,
    run_application,
    run_compose_file,
)
from conformance.selftest.tools.mutant import mutant, row
from reference_node.node import Node

Text = Callable[[str], str]
PIN = "@sha256:b2c1d0e9f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c3d2e1f0a9b8c7d6e5f4a3b2c1"
"""The digest of the second image in the node's compose file."""
IMAGE = "registry.example/service/ingress"


def _show(node: Node, change: Callable[[str], JsonValue]) -> None:
    """Show another description than the one that is measured."""

    def shown(info: Members) -> Members:
        return {**info, "tcb_info": {"app_compose": change(str(members(info["tcb_info"])["app_compose"]))}}

    change_info(node, shown)


def _show_hash(node: Node, digest: str) -> None:
    change_info(node, lambda info: {**info, "compose_hash": digest})


@mutant(
    "ATT-150",
    each=[
        row("with-spaces", lambda text: json.dumps(json.loads(text), ensure_ascii=False)),
        row("indented", lambda text: json.dumps(json.loads(text), indent=2, ensure_ascii=False)),
        row("sorted", lambda text: json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"))),
        row("with-a-newline", lambda text: text + "\n"),
        row("with-escapes", lambda text: text.replace("/", "\\/")),
        row("with-another-line-end", lambda text: text.replace("\\n", "\\r\\n")),
    ],
)
def description_is_serialised_anew(node: Node, change: Text) -> None:
    """Show the description in other bytes than those that were hashed."""
    _show(node, change)


@mutant(
    "ATT-150", each=[row("name", '"name":"reference-node"', '"name":"reference_node"'), row("image", "0.1.0", "0.1.1")]
)
def description_is_of_another_release(node: Node, measured: str, shown: str) -> None:
    """Show `{shown}` where `{measured}` was hashed."""
    _show(node, lambda text: text.replace(measured, shown))


@mutant("ATT-150", each=[row("8", 8), row("40", 40), row("62", 62)], also="ATT-130 ATT-250 VER-050")
def compose_hash_is_cut(node: Node, digits: int) -> None:
    """Answer the first {digits} hex digits of the compose hash."""
    _show_hash(node, node.attestation.identity.compose_hash.hex()[:digits])


@mutant("ATT-150", also="ATT-130 ATT-250 VER-050")
def compose_hash_has_digits_behind(node: Node) -> None:
    """Answer the compose hash with a zero byte behind it."""
    _show_hash(node, node.attestation.identity.compose_hash.hex() + "00")


@mutant("ATT-150", also="ATT-130 ATT-250")
def compose_hash_is_of_the_file_alone(node: Node) -> None:
    """Answer the SHA-256 of the compose file instead of that of the whole description."""
    file = str(json.loads(node.attestation.identity.app_compose)["docker_compose_file"])
    _show_hash(node, hashlib.sha256(file.encode()).hexdigest())


@mutant("ATT-150", also="ATT-130 ATT-250")
def compose_hash_is_of_the_json_text(node: Node) -> None:
    """Answer the SHA-256 of the description as it stands in JSON, quoted and escaped."""
    _show_hash(node, hashlib.sha256(json.dumps(node.attestation.identity.app_compose).encode()).hexdigest())


@mutant("ATT-150", also="ATT-130 ATT-250")
def compose_hash_is_another_algorithm(node: Node) -> None:
    """Answer the SHA3-256 of the description as its compose hash."""
    _show_hash(node, hashlib.sha3_256(node.attestation.identity.app_compose.encode()).hexdigest())


@mutant("ATT-150", "ATT-130")
def compose_hash_is_of_the_release_before(node: Node) -> None:
    """Show the hash of the release before, after the description and what is measured moved on."""
    before = node.attestation.identity.compose_hash.hex()
    run_compose_file(node, lambda file: file.replace("0.1.0", "0.1.1"))
    _show_hash(node, before)


@mutant("ATT-130")
def another_application_is_measured(node: Node) -> None:
    """Show a description with its right hash, while the machine measured another."""
    shown = node.attestation.info
    run_compose_file(node, lambda file: file.replace("always", "no") + "# edited\n")
    node.attestation.info = shown


@mutant(
    "ATT-030",
    each=[
        row("no-json", lambda text: text[:-1], also="ATT-150"),
        row("list", lambda text: f"[{text}]", also="ATT-150"),
        row("yaml", lambda text: str(json.loads(text)["docker_compose_file"]), also="ATT-150"),
        row("object", json.loads, also="ATT-150 VER-050"),
        row("number", len, also="ATT-150 VER-050"),
        row("empty", lambda _: "", also="ATT-150"),
    ],
)
def description_is_no_json_text(node: Node, change: Callable[[str], JsonValue]) -> None:
    """Show `app_compose` as something else than the text of a JSON object."""
    _show(node, change)


def _describe(node: Node, change: Callable[[Members], Members]) -> None:
    """Run an application of another description, rightly measured, shown and registered."""
    text = node.attestation.identity.app_compose
    run_application(node, json.dumps(change(json.loads(text)), separators=(",", ":")))


@mutant(
    "ATT-030",
    each=[
        row("absent", lambda told: {name: value for name, value in told.items() if name != "docker_compose_file"}),
        row("empty", lambda told: {**told, "docker_compose_file": ""}),
        row("null", lambda told: {**told, "docker_compose_file": None}),
        row("object", lambda told: {**told, "docker_compose_file": {"services": {}}}),
        row("no-yaml", lambda told: {**told, "docker_compose_file": "services: [\n"}),
        row("a-path", lambda told: {**told, "docker_compose_file": "./docker-compose.yaml"}),
    ],
)
def description_has_no_compose_file(node: Node, change: Callable[[Members], Members]) -> None:
    """Describe the application without a `docker_compose_file` that is YAML."""
    _describe(node, change)


@mutant("ATT-030")
def compose_file_stands_twice(node: Node) -> None:
    """Describe the application with two members `docker_compose_file`, of which readers take either."""
    text = node.attestation.identity.app_compose
    run_application(node, text[:-1] + ',"docker_compose_file":"services: {}"}')


@mutant(
    "ATT-160",
    each=[
        row("tag-alone", lambda file: file.replace(PIN, ":latest")),
        row("no-tag", lambda file: file.replace(PIN, "")),
        row("digest-is-a-tag", lambda file: file.replace(PIN, PIN.replace("@sha256:", ":sha256-"))),
        row("digest-is-cut", lambda file: file.replace(PIN, PIN[:-1])),
        row("digest-is-long", lambda file: file.replace(PIN, PIN + "0")),
        row("digest-is-no-hex", lambda file: file.replace(PIN, PIN[:-1] + "g")),
        row("digest-is-empty", lambda file: file.replace(f"{IMAGE}{PIN}", f'"{IMAGE}@sha256:"')),
        row("digest-of-another-kind", lambda file: file.replace(PIN, PIN.replace("sha256", "sha1"))),
        row("digest-in-a-comment", lambda file: file.replace(PIN, f":latest  # {PIN}")),
        row("digest-in-a-label", lambda file: file.replace(PIN, f":latest\n    labels:\n      image: ingress{PIN}")),
        row("digest-before-the-name", lambda file: file.replace(f"ingress{PIN}", f"ingress{PIN}/other:latest")),
        row("digest-in-a-variable", lambda file: file.replace(PIN, "@sha256:${INGRESS_DIGEST}")),
        row("quoted", lambda file: file.replace(f"{IMAGE}{PIN}", '"nginx:1.27"')),
        row(
            "third-service", lambda file: file.replace("volumes:\n  evid", "  aid:\n    image: aid:1\nvolumes:\n  evid")
        ),
        row("in-one-line", lambda file: file.replace("  ingress:", "  aid: {image: aid:1}\n  ingress:")),
        row(
            "key-twice",
            lambda file: file.replace('    ports:\n      - "443', '    image: nginx:1\n    ports:\n      - "443'),
        ),
        row("quoted-key", lambda file: file.replace("  ingress:", '  aid:\n    "image": aid:1\n  ingress:')),
        row("spaced-key", lambda file: file.replace("  ingress:", "  aid:\n    image : aid:1\n  ingress:")),
        row("next-line", lambda file: file.replace("  ingress:", "  aid:\n    image:\n      aid:1\n  ingress:")),
        row("folded", lambda file: file.replace("  ingress:", "  aid:\n    image: >-\n      aid:1\n  ingress:")),
        row("merged", lambda file: file.replace("  ingress:", "  aid:\n    <<: {image: 'aid:1'}\n  ingress:")),
        row(
            "alias",
            lambda file: "x-aid: &aid 'aid:1'\n" + file.replace("  ingress:", "  aid:\n    image: *aid\n  ingress:"),
        ),
        row("under-no-service", lambda file: f"x-aid:\n  image: aid:1\n{file}"),
        row("second-document", lambda file: file + "---\nservices:\n  aid:\n    image: aid:1\n"),
    ],
)
def image_is_not_pinned(node: Node, change: Text) -> None:
    """Run a compose file with an image that no digest pins; all of it is measured, shown and registered."""
    run_compose_file(node, change)


@mutant("ATT-130")
def another_app_id_is_measured(node: Node) -> None:
    """Show an `app_id` that is not the measured one."""
    shown = node.attestation.info
    identity = node.attestation.identity
    become(node, type(identity)(**{**vars(identity), "app_id": bytes(20)}))
    node.attestation.info = shown
