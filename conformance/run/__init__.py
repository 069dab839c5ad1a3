"""A run: packs loaded into cases, the cases run, the pytest plugin and its session."""
