"""The self-test: faulty nodes that prove that each check can fail, and the untouched node that must be green."""
