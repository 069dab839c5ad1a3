"""The reference node: the whole service over an in-memory chain, written to be read beside the specification."""
