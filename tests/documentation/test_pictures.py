"""The pictures of docs/ show the pages as they are now."""

from __future__ import annotations

import pytest
from pictures import DOCS, digest_in, pictures


@pytest.mark.parametrize("name", sorted(pictures()))
def test_picture_shows_the_page_as_it_is(name: str) -> None:
    stated = digest_in((DOCS / name).read_bytes())
    assert stated == pictures()[name].digest, "run `python tests/documentation/pictures.py`"


def test_every_picture_of_the_pages_is_made_here() -> None:
    assert {file.name for file in DOCS.rglob("*.png")} == set(pictures())
