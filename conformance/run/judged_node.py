"""The node that a run judges: at an address, or a bundled node for each process, which the run starts."""

from __future__ import annotations

from conformance.endpoints.bundled import BundledNode, BundledNodes
from conformance.endpoints.client import Target
from conformance.endpoints.pace import Budget, GasBudget, Pace, PurchaseBudget, lowest_rate
from conformance.endpoints.patience import Patience
from conformance.endpoints.redaction import without_users
from conformance.profile import Profile, load_profile, load_ready_file
from conformance.run.case import Case
from conformance.run.options import Options


class JudgedNode:
    """The node's address and profile; makes a target for each process of the run."""

    def __init__(self, options: Options, seed: str, *, may_start: bool = True) -> None:
        """Load the profile and start the bundled nodes, without waiting for them. Raises LoadProblem."""
        self._options = options
        self._seed = seed
        self.jobs = options.jobs or 1
        self.profile = load_profile(options.profile) if options.profile else Profile()
        self.url = options.node_url or self.profile.base_url
        self.judging: dict[str, list[Case]] = {}
        """The cases that the run has selected, by id without the row."""
        self._bundled = BundledNodes(self.jobs) if may_start and self.url is None else None

    @property
    def is_bundled(self) -> bool:
        """Whether the run has started the node."""
        return self._bundled is not None

    def __str__(self) -> str:
        others = f", with {self.jobs - 1} more" if self.jobs > 1 else ""
        return f"node {without_users(str(self.url))}" + (
            f" (bundled, started for this run{others})" if self.is_bundled else ""
        )

    def wait_until_ready(self) -> None:
        """Return when the bundled nodes answer. Raises NodeNotStarted."""
        if self._bundled is not None:
            self._bundled.wait_until_ready()
            ready = _offered(self._bundled.all[0])
            self.url = ready.base_url
            if self._options.profile is None:
                self.profile = ready

    def target(self, place: int = 0) -> Target:
        """A target, for a bundled node that of the process with this number, from 0, with its share of the budgets."""
        url, profile = str(self.url), self.profile
        started = None if self._bundled is None else self._bundled.all[place]
        if started is not None:
            ready = _offered(started)
            url = str(ready.base_url)
            profile = self.profile if self._options.profile else ready
        target = target_for(self._options, url, profile, self._seed, of=self.jobs if self.is_bundled else 1)
        target.restarter = None if started is None else started.restart
        target.may_restart = self._options.restart
        target.ends_with_run = self.is_bundled
        target.judging = self.judging
        return target

    def stop(self) -> None:
        """Stop the bundled nodes."""
        if self._bundled is not None:
            self._bundled.stop()


def _offered(node: BundledNode) -> Profile:
    """The profile of a bundled node, which the run itself can restart."""
    return load_ready_file(node.ready_file).offering("restart")


def target_for(options: Options, url: str, profile: Profile, seed: str, *, of: int = 1) -> Target:
    """A target for one of `of` processes, with its share of the rate and of the budgets."""
    spend, gas, buy = options.max_spend, options.max_gas, profile.payments.most_cents
    rate = lowest_rate(options.rate, profile.limits.rate)
    target = Target(
        url,
        profile.trusting(options.ca_file),
        seed=seed,
        pace=Pace(None if rate is None else rate / of),
        budget=Budget(None if spend is None else spend // of),
        extent=options.extent,
        gas=GasBudget(None if gas is None else gas // of),
        patience=Patience(options.timeout, options.max_timeouts),
    )
    target.purchases = PurchaseBudget(None if buy is None else buy // of)
    return target
