"""Lets cases take turns at a node that several processes judge: while one uses a control, the others wait."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from conformance.endpoints.client import Target
from conformance.endpoints.locks import between_processes


def _has_controls(target: Target) -> bool:
    """Whether a case can change what other cases of the run meet: the time, the certificate, the payment provider."""
    profile = target.profile
    controls = any(profile.offers(name) for name in ("clock_control", "certificate_control"))
    return controls or profile.payments.control_url is not None


@contextmanager
def turn(target: Target, *, alone: bool) -> Iterator[None]:
    """Hold the node while a case runs, exclusively for a case that has to run `alone`."""
    if not target.shared or not _has_controls(target):
        yield
        return
    with ExitStack() as held:
        with between_processes(
            f"gate of {target.base_url}"
        ):  # keeps later cases from overtaking one that waits for all others
            held.enter_context(between_processes(f"controls of {target.base_url}", shared=not alone))
        yield
