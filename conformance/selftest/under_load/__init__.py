"""Nodes that are faulty only under load, and the campaigns that must detect them."""
