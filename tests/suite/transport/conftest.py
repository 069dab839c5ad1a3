"""A certificate that no machine trusts."""

from __future__ import annotations

from pathlib import Path

import pytest
from answering_server import make_certificate


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A key and a self-signed certificate of `node.test` and 127.0.0.1, in PEM."""
    return make_certificate(tmp_path_factory.mktemp("tls"))
