"""Wallets by their address, in requests to a node that takes that in place of a PKP id ("Resources / Wallet (PKP)").

It contradicts the specification, which one case charges. The other cases name wallets so that they can be judged.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Set
from dataclasses import replace
from typing import TypeVar

from conformance.endpoints.requests import OutgoingRequest
from conformance.service.derivations import pkp_id
from conformance.values.ids import Address

Value = TypeVar("Value")
FORM = "wire.requests.pkp_id_form"
NAMES = frozenset({"pkp_id", "pkp_ids_permitted"})
"""The members of requests that name wallets."""
ID = re.compile("0x[0-9a-fA-F]{64}")
DIGITS_OF_AN_ADDRESS = 40


class WalletNames:
    """The addresses of the wallets that a run has seen, by their PKP ids. Several threads may ask."""

    def __init__(self, seen: Set[str], rule: str | None) -> None:
        self._seen = seen
        """All addresses so far; there may come more."""
        self._rule = rule
        """How ids follow from addresses; None: nobody states it, so that no wallet of an id is known."""
        self._named: set[str] = set()
        self._addresses: dict[str, str] = {}
        self._lock = threading.Lock()

    def by_address(self, request: OutgoingRequest) -> OutgoingRequest:
        """The request with addresses in place of PKP ids, unless its body is given exactly."""
        if request.body is not None or NAMES.isdisjoint(request.members):
            return request
        return replace(request, members=self.in_members(request.members))

    def in_members(self, members: Mapping[str, Value]) -> dict[str, Value]:
        """The members of a request with addresses in place of PKP ids."""
        return {name: self._taken(value) if name in NAMES else value for name, value in members.items()}  # type: ignore[misc]  # texts stay texts

    def _taken(self, value: object) -> object:
        if isinstance(value, list):
            return [self._taken(item) for item in value]
        return self.address_of(value) if isinstance(value, str) and ID.fullmatch(value) else value

    def address_of(self, own: str) -> str:
        """The address of a PKP id, in capitals where that has some; of an id of nobody an address of nobody."""
        digits = own.removeprefix("0x")
        tail = digits[-DIGITS_OF_AN_ADDRESS:]
        is_zeros = int(tail, 16) == 0 != int(digits, 16)  # nearly the wildcard, which the address must not become
        nobodys = f"0x{digits[:DIGITS_OF_AN_ADDRESS] if is_zeros else tail}"
        found = self._known().get(own.lower(), nobodys)
        return found if own == own.lower() else f"0x{found[2:].upper()}"

    def _known(self) -> dict[str, str]:
        with self._lock:  # else a thread finds an address taken up whose id another one still computes
            new = self._seen - self._named if self._rule else set()
            addresses = [f"0x{address.removeprefix('0x')}" for address in new]
            self._addresses |= {str(pkp_id(Address(address), self._rule)).lower(): address for address in addresses}
            self._named |= new
        return self._addresses
