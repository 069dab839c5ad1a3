"""Wallets by their address, in requests to a node that takes that in place of a PKP id."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from conformance.endpoints.requests import OutgoingRequest
from conformance.profile import Profile, resolve
from conformance.service.derivations import pkp_id
from conformance.service.wallet_names import WalletNames
from conformance.values.ids import Address

RULE = "keccak256_of_address"
ADDRESS = Address(f"0x{'ab' * 20}")
OWN = str(pkp_id(ADDRESS, RULE))


@pytest.fixture
def names() -> WalletNames:
    """The names of one wallet. Addresses are seen with and without 0x."""
    return WalletNames({ADDRESS.removeprefix("0x")}, RULE)


def test_id_becomes_the_address_in_members_that_name_wallets_alone(names: WalletNames) -> None:
    operation = resolve(Profile(), "add_group")
    request = OutgoingRequest(operation, members={"group_name": OWN, "pkp_ids_permitted": [OWN, 7, "0x00"]})

    assert names.by_address(request).members == {"group_name": OWN, "pkp_ids_permitted": [ADDRESS, 7, "0x00"]}


def test_exact_body_stays_as_it_is(names: WalletNames) -> None:
    request = OutgoingRequest(resolve(Profile(), "add_pkp_to_group"), members={"pkp_id": OWN}, body="{}")

    assert names.by_address(request) is request


@pytest.mark.parametrize(
    ("own", "address"),
    [
        (f"0x{'0' * 64}", f"0x{'0' * 40}"),
        (f"0x{'0' * 63}1", f"0x{'0' * 39}1"),
        (f"0x1{'0' * 63}", f"0x1{'0' * 39}"),
        (f"0x{'12' * 32}", f"0x{'12' * 20}"),
        (f"0x{OWN[2:].upper()}", f"0x{'AB' * 20}"),
    ],
)
def test_id_of_nobody_becomes_an_address_of_nobody_and_none_but_zeros_the_wildcard(
    names: WalletNames, own: str, address: str
) -> None:
    assert names.address_of(own) == address


def test_wallet_that_is_seen_later_is_known() -> None:
    seen: set[str] = set()
    later = WalletNames(seen, RULE)
    assert later.address_of(OWN) == f"0x{OWN[-40:]}"

    seen.add(ADDRESS)

    assert later.address_of(OWN) == ADDRESS


def test_threads_that_ask_at_once_all_know_the_wallet() -> None:
    seen = {f"{number:040x}" for number in range(2_000)} | {ADDRESS}
    names = WalletNames(seen, RULE)

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(names.address_of, [OWN] * 8))

    assert found == [ADDRESS] * 8
