"""The reference node: the whole service over an in-memory chain, written to be read beside the specification."""

import os

# eth-hash would choose pycryptodome's keccak, which is ten times slower on the EVM's short inputs.
os.environ.setdefault("ETH_HASH_BACKEND", "pysha3")
