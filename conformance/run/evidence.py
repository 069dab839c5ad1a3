"""The evidence of the judged node before the first case and after the last, for a statement of the verdict."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from conformance.problems import Problem, require_verifier
from conformance.profile import Profile
from conformance.report.results import EvidenceVerified, RunEvidence
from conformance.report.write import AFTER, BEFORE

RENEWAL_SECONDS = 0.5
"""Seconds before a second fetch, where a certificate seems to have been renewed during the first."""


class EvidenceUnusable(Problem):
    """The evidence cannot be fetched, kept or accepted, so that no statement can follow from the run."""

    code = "evidence-unusable"
    cause = "the evidence of the node cannot be used"
    hint = "`service-conformance verify URL` tells more; without --evidence the cases run all the same"


class EvidenceKeeper:
    """Fetches, verifies and keeps evidence in a folder."""

    def __init__(self, folder: Path) -> None:
        """Raise EvidenceUnusable if the folder holds evidence already, VerifierNotInstalled without the libraries."""
        require_verifier()
        self._folder = folder
        self._before: EvidenceVerified | None = None
        self._after: EvidenceVerified | None = None
        self._trouble = ""
        for name in (BEFORE, AFTER):
            if (folder / name).exists():
                raise EvidenceUnusable(f"--evidence {folder}: has a {name} already; name a new folder")

    def before(self, url: str, profile: Profile) -> None:
        """Keep the evidence of a node that no case has judged yet. Raise EvidenceUnusable: it is refused, say."""
        self._before = self._keep(BEFORE, url, profile)
        if not self._before.verified:
            raise EvidenceUnusable(f"the evidence of {url} is refused: {', '.join(self._before.refused)}")

    def after(self, url: str, profile: Profile, interrupted: str) -> RunEvidence | None:
        """Keep the evidence after the last case. What is wrong with it stands in the record. None: no before."""
        if self._before is None:
            return None
        if interrupted:
            self._trouble = f"not fetched: {interrupted}"
        else:
            try:
                self._after = self._keep(AFTER, url, profile)
            except EvidenceUnusable as problem:
                self._trouble = str(problem)
        if self._after is not None and not self._after.verified:
            self._trouble = f"the evidence is refused: {', '.join(self._after.refused)}"
        return RunEvidence(before=self._before, after=self._after, trouble=self._trouble)

    def _keep(self, name: str, url: str, profile: Profile) -> EvidenceVerified:
        # Only a run that keeps evidence pays for the verifier.
        from conformance.drivers.attestation.evidence import policy_of, sources_of  # noqa: PLC0415
        from conformance.verify import FetchError, save_folder, verify  # noqa: PLC0415
        from conformance.verify.evidence import digest_of  # noqa: PLC0415
        from conformance.verify.fetching import fetch_settled  # noqa: PLC0415
        from conformance.verify.results import REFUSING  # noqa: PLC0415

        address, policy = profile.attestation.base_url or url, policy_of(profile)
        try:
            evidence, _ = fetch_settled(address, policy, sources_of(profile), pause=RENEWAL_SECONDS)
            save_folder(evidence, self._folder / name)
        except (FetchError, ValueError) as problem:
            raise EvidenceUnusable(str(problem)) from problem
        except OSError as problem:
            raise EvidenceUnusable(f"{problem.filename} cannot be written: {problem.strerror}") from problem
        verified = verify(evidence, policy)
        refusing = [finding.code for finding in verified.findings if finding.severity in REFUSING]
        return EvidenceVerified(
            sha256=digest_of(evidence),
            at=datetime.now(UTC),
            verified=verified.accepted,
            refused=tuple(dict.fromkeys(refusing)),
        )
