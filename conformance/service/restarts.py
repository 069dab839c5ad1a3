"""Restarts the node in the midst of a case: what it has acknowledged has to outlast its process."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial

from conformance.endpoints.messages import Answer
from conformance.endpoints.requests import OutgoingRequest
from conformance.endpoints.restart import How, restart
from conformance.problems import ConnectionDropped, NoAnswerInTime, ProxyFault, Unreachable
from conformance.service.at_once import at_once
from conformance.service.session import Session


class Restarts:
    """Restarts of the node under test. NotRestarted: it does not come back; ProfileSilent: the profile says not how."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def stop(self) -> None:
        """Stop the node in order and start it again."""
        self._restart("stop")

    def kill(self) -> None:
        """Kill the node and start it again; stop it in order where the profile has no command that kills."""
        self._restart("kill")

    def kill_beside(self, writes: Sequence[OutgoingRequest]) -> list[Answer | None]:
        """Kill the node as soon as it has answered one of several writes that are sent at the same time, and start it.

        The answers, None for a write that the kill has cut off: whether it counts is not known.
        """
        session, answered = self._session, threading.Event()
        session.target.be_alone()
        session.settle()
        first = len(session.log)

        def send(number: int, write: OutgoingRequest) -> Answer | None:
            branch = session.branch(f"write {number}")
            # A connection that the pool kept would be dead after the kill, and the next write would meet it.
            branch.target = session.target.without_retries().without_kept_connections()
            try:
                return branch.send(write, at_once=True)
            except (ConnectionDropped, NoAnswerInTime, ProxyFault, Unreachable):
                return None
            finally:
                answered.set()

        def kill() -> None:
            answered.wait()
            self._restart("kill")

        sends: list[Callable[[], Answer | None]] = [partial(send, *numbered) for numbered in enumerate(writes)]
        try:
            *answers, _ = at_once([*sends, kill])
        finally:
            session.log.note_cut_off(first)
        return answers

    def _restart(self, how: How) -> None:
        session, target = self._session, self._session.target
        target.be_alone()
        session.settle()
        restart(target.profile, target.base_url, how, target.restarter, target.pause)
        session.recent_reads.forget()
        session.log.note_restart()
