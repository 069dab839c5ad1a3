"""The reference node: the whole service over an in-memory chain, written to be read beside the specification."""

import os

# eth-hash would take pycryptodome's keccak, which is ten times slower on the short inputs of the EVM.
os.environ.setdefault("ETH_HASH_BACKEND", "pysha3")
