"""The driver of hostile actions: an interrupted campaign ends, and one that goes through tells all that departed."""

from __future__ import annotations

import threading

import pytest

from conformance.drivers.hostile import driver as hostile
from conformance.drivers.hostile.driver import Campaign, Entry, entries
from conformance.drivers.sections import blaming
from conformance.problems import Mismatch, NoAnswerInTime


class Quiet(Campaign):
    """A campaign without a node: its actions end at once, and its bystander stands by until all is done."""

    def __init__(self) -> None:
        self.stood_by = threading.Event()

    def _attack(self, entry: Entry) -> None:
        pass

    def _stand_by(self, done: threading.Event) -> float:
        assert done.wait(60), "nobody said that all is done"
        self.stood_by.set()
        return 0.0


def test_interrupted_campaign_sends_its_bystander_home(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(hostile, "_wait", interrupted)
    campaign = Quiet()
    with pytest.raises(KeyboardInterrupt):
        campaign.carry_out(list(entries()), 2)
    assert campaign.stood_by.is_set()


class Departing(Quiet):
    """Its first two actions depart, each in its own way."""

    def _attack(self, entry: Entry) -> None:
        first, second = entries()[:2]
        if entry == first:
            with blaming(["EXEC-330"]):
                raise NoAnswerInTime("that it ends", "it did not")
        if entry == second:
            with blaming(["EXEC-270"]):
                raise Mismatch("nothing left behind", "a global")


def test_every_departure_of_a_campaign_is_told() -> None:
    with pytest.raises(NoAnswerInTime) as caught:
        Departing().carry_out(list(entries()), 2)
    assert caught.value.got == "it did not"
    assert caught.value.beside == ("expected nothing left behind; got a global",)
    assert caught.value.requirements == ("EXEC-330", "EXEC-270")
