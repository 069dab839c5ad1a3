"""The verifiers of others, as commands."""

from __future__ import annotations

import pytest

from . import peers


@pytest.fixture(scope="session")
def dcap_qvl() -> str:
    return peers.dcap_qvl()


@pytest.fixture(scope="session")
def phala_dcap_qvl() -> str:
    return peers.phala_dcap_qvl()


@pytest.fixture(scope="session")
def go_tdx_guest(tmp_path_factory: pytest.TempPathFactory) -> str:
    built = tmp_path_factory.mktemp("go-tdx-guest") / "adapter"
    return peers.go_program(peers.ADAPTERS / "go-tdx-guest", built)
