"""The simulated trusted execution environment: a platform with a PKI of its own, its quotes and what vouches for them."""
