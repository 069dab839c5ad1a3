"""The results of a run as one HTML page that loads nothing from elsewhere."""

from conformance.report.page.render import html

__all__ = ["html"]
