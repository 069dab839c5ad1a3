"""A simulator of what a node with prepaid credits and its customers use of Stripe's API (docs/stripe-simulator.md)."""
