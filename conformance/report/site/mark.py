"""The mark of a run on the board: a statement of its verdict, verified with the verifier's own rules."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from conformance.problems import LoadProblem
from conformance.report.site.board import STATEMENT_NAME, Mark, MarkReader
from conformance.verify import Evidence, Policy, Rule, Signer, StatementPolicy, verify
from conformance.verify.evidence import STATEMENT, read_file
from conformance.verify.reading import Reading
from conformance.verify.results import REFUSING

RULES = (Rule.STATEMENT, Rule.STATEMENT_SIGNATURE, Rule.JUDGED_RUN)
"""What can be judged of a statement without the service."""


def mark_reader(signers: Sequence[Signer]) -> MarkReader:
    """Reads the statement beside each results.json."""
    policy = Policy(statement=StatementPolicy(tuple(signers)))

    def read(folder: Path, results: bytes) -> Mark | None:
        path = folder / STATEMENT_NAME
        if not path.exists():
            return None
        try:
            body = read_file(path)
        except (OSError, ValueError) as problem:
            raise LoadProblem(f"cannot be read: {problem}", path) from problem
        evidence = Evidence({STATEMENT: body})
        verified = verify(evidence, policy, RULES)
        if not verified.accepted:
            first = next(finding for finding in verified.findings if finding.severity in REFUSING)
            raise LoadProblem(f"{first.code}: {first.compared}", path)
        reading = Reading(evidence, policy)
        said = reading.statement
        if said.run.digest.sha256 != sha256(results).hexdigest():
            raise LoadProblem("is about another results.json than the one beside it", path)
        return Mark(", ".join(one.name for one in reading.signers), said.after.annotations.compose_hash, body)

    return read
