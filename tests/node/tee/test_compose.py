"""The compose file: what is not pinned by digest is refused, with the line that has it (rules 1 and 2)."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
import yaml

from reference_node.tee.compose import ComposeError, app_compose, compose_hash, read_compose

DIGEST = "0123456789abcdef" * 4
PINNED = f"reg.example/app:1.2@sha256:{DIGEST}"


def written(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "compose.yaml"
    file.write_text(text, encoding="utf-8")
    return file


def test_shipped_file_is_pinned_throughout() -> None:
    text = read_compose(None)
    services = yaml.safe_load(text)["services"]
    assert len(services) == 2
    assert all("@sha256:" in service["image"] for service in services.values())


@pytest.mark.parametrize(
    "text",
    [
        f"services:\n  a:\n    image: {PINNED}\n",
        f"services: {{a: {{image: 'app@sha256:{DIGEST}'}}}}",
        f"x-base: &base\n  image: {PINNED}\nservices:\n  a: *base\n  b:\n    <<: *base\n    restart: always\n",
        f"services:\n  a:\n    image: {PINNED}\n    environment:\n      HOME: ${{HOME}}\n",
        f"services:\n  image:\n    image: {PINNED}\n",
    ],
)
def test_pinned_file_is_taken_as_it_is_written(tmp_path: Path, text: str) -> None:
    assert read_compose(written(tmp_path, text)) == text


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("services:\n  a:\n    image: nginx:1.27\n", 3, "the image 'nginx:1.27' is not pinned"),
        (f"services:\n  a:\n    image: {PINNED}\n  b:\n    image: redis\n", 5, "'redis' is not pinned"),
        (f"services:\n  a:\n    image: app@sha256:{DIGEST[:-1]}\n", 3, "is not pinned"),
        (f"services:\n  a:\n    image: app@sha256:{DIGEST}0\n", 3, "is not pinned"),
        (f"services:\n  a:\n    image: app@sha256:{DIGEST.upper()}\n", 3, "is not pinned"),
        (f"services:\n  a:\n    image: app@sha512:{DIGEST}\n", 3, "is not pinned"),
        (f"services:\n  a:\n    image: app:latest # @sha256:{DIGEST}\n", 3, "'app:latest' is not pinned"),
        (f"services:\n  a:\n    image: ${{APP}}@sha256:{DIGEST}\n", 3, "is not pinned"),
        (f"services:\n  a:\n    image: '{PINNED}\n'\n", 3, "is not pinned"),
        (f"services:\n  a:\n    image: [{PINNED}]\n", 3, "is not pinned"),
        ("services:\n  a:\n    restart: always\n", 3, "a service without an image"),
        (f"services:\n  a:\n    image: {PINNED}\n    build: .\n", 4, "build brings in"),
        (f"services:\n  a:\n    image: {PINNED}\n    extends: b\n", 4, "extends brings in"),
        (f"include: [other.yaml]\nservices:\n  a:\n    image: {PINNED}\n", 1, "include brings in"),
        (f"services:\n  a:\n    image: {PINNED}\n    image: nginx\n", 4, "'image' comes twice"),
        (f"x-b: &b\n  image: nginx\nservices:\n  a:\n    <<: *b\n    image: {PINNED}\n", 2, "'nginx' is not pinned"),
        ("x-b: &b\n  image: nginx\nservices:\n  a: *b\n", 2, "'nginx' is not pinned"),
        ("services:\n  a: nginx\n", 2, "the service 'a' is no mapping"),
        ("services: {}\n", 1, "there are no services"),
        ("version: '3'\n", 1, "there are no services"),
        ("- a\n", 1, "no compose file"),
        ("", 1, "no compose file"),
        ("services:\n  a: [\n", 3, "no YAML"),
        ("services:\n  a: \x07\n", 1, "no YAML"),
        ("a: 1\n---\nb: 2\n", 2, "no YAML"),
        ("? [a]\n: b\n", 1, "a key that is no text"),
    ],
)
def test_unpinned_file_is_refused_with_its_line(tmp_path: Path, text: str, line: int, said: str) -> None:
    file = written(tmp_path, text)
    with pytest.raises(ComposeError) as refused:
        read_compose(file)
    assert str(refused.value).startswith(f"{file}: line {line}: "), refused.value
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("content", [None, b"\xff\xfe", b"a: " + b"[" * 1200, b"a: &a {<<: &b {<<: *a}}"])
def test_file_that_can_not_be_read_is_one_clear_line(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "compose.yaml"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ComposeError) as refused:
        read_compose(file)
    assert str(file) in str(refused.value)
    assert "\n" not in str(refused.value)


def test_compose_hash_is_of_the_exact_text() -> None:
    text = app_compose("services: {}\n# ümlaut\n")
    assert json.loads(text)["docker_compose_file"] == "services: {}\n# ümlaut\n"
    assert compose_hash(text) == hashlib.sha256(text.encode("utf-8")).digest()
