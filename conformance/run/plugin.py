"""The pytest plugin: options that run packs, and fixtures for clients' own tests.

    pytest --conformance-node-url http://127.0.0.1:8000 --conformance-pack 'usage_*'

Every pytest in the environment loads this module. It does nothing until one of its options or fixtures is used, and
only then imports `conformance.run.session`, which runs the packs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.ending import crash_ends_pytest
from conformance.run.options import PREFIX, SPELLINGS, add_option

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.run.client_fixtures import ReferenceNode, ServiceAccount

ASKING = (PREFIX, *(f"{PREFIX}_{name}" for name in ("node_url", "packs", "pack_dirs", "resume")))
"""Any of these options makes pytest run packs."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options, in a group of their own."""
    group = parser.getgroup("service-conformance", "conformance of a node of the service")
    group.addoption(f"--{PREFIX}", action="store_true", help="run packs, even without one of the options below")
    for name in SPELLINGS:
        add_option(group.addoption, name, pytest=True)


def pytest_configure(config: pytest.Config) -> None:
    """Register the session plugin when the options ask for packs."""
    if any(config.getoption(name) for name in ASKING):
        with crash_ends_pytest():
            _register(config)


def _register(config: pytest.Config) -> None:
    from conformance.run.session import ConformanceSession  # noqa: PLC0415 - costly, and most pytests run no packs

    config.pluginmanager.register(ConformanceSession(config), "conformance-session")
    if config.getoption("allure_report_dir", None):
        from conformance.run.allure import AllureCases  # noqa: PLC0415 - the extra `allure` may be absent

        config.pluginmanager.register(AllureCases(config), "conformance-allure")


@pytest.fixture(scope="session")
def conformance_node() -> Iterator[ReferenceNode]:
    """A reference node for the session (docs/client-tests.md)."""
    from conformance.run.client_fixtures import running_node  # noqa: PLC0415 - as above

    with running_node() as node:
        yield node


@pytest.fixture
def conformance_account(conformance_node: ReferenceNode) -> ServiceAccount:
    """An account on the reference node with credits, a wallet, a group and a usage key that runs actions."""
    return conformance_node.new_account()
