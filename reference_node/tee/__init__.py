"""The simulated trusted execution environment: a platform, its quotes, and the evidence that the node serves."""
