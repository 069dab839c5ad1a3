"""A simulator of the part of Stripe's API that a node with prepaid credits and its customers use."""
