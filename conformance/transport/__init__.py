"""How this project reaches the network: one rule for proxies, trusted certificates and passwords (docs/network.md).

Every HTTP client of the suite, of the verifier and of the reference node is made by `client` or has `Routes` inside.
"""

from conformance.transport.bounded import BoundedNetwork
from conformance.transport.clients import Pool, Routes, client
from conformance.transport.proxies import Proxy, forwarder, proxy_for
from conformance.transport.trust import BadCertificatesError, certificates_in, trusted, unverified

__all__ = [
    "BadCertificatesError",
    "BoundedNetwork",
    "Pool",
    "Proxy",
    "Routes",
    "certificates_in",
    "client",
    "forwarder",
    "proxy_for",
    "trusted",
    "unverified",
]
