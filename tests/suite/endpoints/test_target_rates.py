"""The rate of requests that a run keeps to."""

from __future__ import annotations

import pytest

from conformance.endpoints.pace import lowest_rate


@pytest.mark.parametrize(
    ("option", "stated", "rate"),
    [
        (None, "unlimited", None),
        (None, None, None),
        (5.0, "unlimited", 5.0),
        (None, 3.0, 3.0),
        (5.0, 3.0, 3.0),
        (2.0, 3.0, 2.0),
    ],
)
def test_lower_of_the_users_and_the_profiles_rate_is_kept(
    option: float | None, stated: float | str | None, rate: float | None
) -> None:
    assert lowest_rate(option, stated) == rate
