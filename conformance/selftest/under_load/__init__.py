"""Nodes that are sound while one client uses them and faulty under load, and the campaigns that have to notice."""
