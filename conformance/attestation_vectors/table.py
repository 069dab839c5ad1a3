"""What comparisons show: a list of differences for the terminal, a table in Markdown for the documentation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from conformance.attestation_vectors.against import Comparison, Verdict

DIFFERENCES = (Verdict.TOO_GENEROUS, Verdict.TOO_STRICT, Verdict.CRASHED, Verdict.TIMED_OUT)


def differences(comparison: Comparison) -> Iterator[str]:
    """A line for each vector that the command judges wrongly or not at all, and one that sums up."""
    for judged in comparison.having(*DIFFERENCES):
        flags = ", ".join(judged.vector.flags)
        detail = f" ({' '.join(judged.detail.split())[:120]})" if judged.detail else ""
        subject = f"{judged.vector.topic}: {judged.vector.comment}"
        yield f"{judged.verdict:<12}  {judged.vector.id:<24}  {flags:<16}  {subject}{detail}"
    counts = Counter(judged.verdict for judged in comparison.judged)
    summed = ", ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict if counts[verdict])
    others = f"; {comparison.others} of other kinds" if comparison.others else ""
    yield f"{comparison.implementation}: {len(comparison.judged)} vectors: {summed}{others}"


def markdown(comparisons: Sequence[Comparison]) -> str:
    """Flag by flag, how many of the vectors that must be refused each command accepts; then the rest, in sums."""
    flags: Counter[str] = Counter()
    for judged in comparisons[0].judged:
        if judged.vector.result == "refused":
            flags.update(judged.vector.flags)
    heads = ["to be refused", "vectors", *(comparison.implementation for comparison in comparisons)]
    rows = [heads, ["---"] * len(heads)]
    for flag, count in sorted(flags.items()):
        rows.append([flag, str(count), *(_cell(comparison, flag) for comparison in comparisons)])
    for verdict in Verdict:
        heading = {Verdict.AGREES: "**judged rightly**"}.get(verdict, f"**{verdict}**")
        rows.append([heading, "", *(str(len(comparison.having(verdict))) for comparison in comparisons)])
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _cell(comparison: Comparison, flag: str) -> str:
    generous = sum(flag in judged.vector.flags for judged in comparison.having(Verdict.TOO_GENEROUS))
    return f"{generous} accepted" if generous else ""
