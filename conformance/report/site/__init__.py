"""A static site from the results of many runs: a board of nodes by requirement, and each node's history."""

from conformance.report.site.board import Board, collect
from conformance.report.site.render import write_site

__all__ = ["Board", "collect", "write_site"]
