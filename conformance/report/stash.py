"""Where the pytest plugin leaves the results of a session, for whoever called pytest."""

from __future__ import annotations

import pytest

from conformance.report.results import Results

RESULTS = pytest.StashKey[Results]()
"""Key of ``config.stash``; set when the session has ended, absent when pytest refused its command line."""
