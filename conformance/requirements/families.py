"""The families of the catalogue in words."""

FAMILIES = {
    "ACC": "Accounts",
    "AKEY": "Account keys",
    "UKEY": "Usage keys",
    "PKP": "Wallets (PKPs)",
    "ACT": "Actions",
    "GRP": "Groups",
    "ENV": "Signed envelopes",
    "SCOPE": "Scopes of usage keys",
    "MODE": "Modes and conversion",
    "MINT": "Minting by a wallet's signature",
    "KEYLIFE": "Life of a usage key",
    "GRPLIFE": "Life of a group",
    "EP": "Endpoints",
    "LIST": "Lists and pages",
    "CHAIN": "Contract and chain",
    "BILL": "Billing",
    "WSIG": "Wallet-signed endpoints",
    "ATT": "Attestation",
    "FLOW": "Flows by path",
    "EXEC": "Execution of actions",
    "AUTH": "Authentication",
    "ERR": "Errors",
    "LIM": "Limits",
    "VER": "Versions and description",
}
"""Family, as ids of requirements begin, to its title."""
