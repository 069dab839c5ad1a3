"""The report of a run: verdicts per requirement, results.json, the terminal, the exit code."""

from conformance.report.build import exit_code, results_of
from conformance.report.record import RunRecord
from conformance.report.results import Results
from conformance.report.terminal import show
from conformance.report.write import make_writable, write_results
from conformance.verdict import ExitCode

__all__ = ["ExitCode", "Results", "RunRecord", "exit_code", "make_writable", "results_of", "show", "write_results"]
