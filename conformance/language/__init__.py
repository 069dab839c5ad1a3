"""Packs: YAML files read into cases. The format is described in docs/packs.md."""
