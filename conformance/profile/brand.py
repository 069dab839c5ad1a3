"""The brand word, for which the specification writes ``service`` ("Preamble / Conventions")."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from conformance.profile.section import Section


class Brand(Section):
    """The two spellings of the brand word."""

    slug: Annotated[str, Field(pattern=r"^[a-z0-9_]+$")] = "service"
    """In paths: `/get_{slug}_action_ipfs_id`."""
    title: Annotated[str, Field(min_length=1)] = "Service"
    """In names: the typed-data domain is `{title} ChainSecured`, the sandbox global `{title}.Actions`."""
