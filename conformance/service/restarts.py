"""Restarts the node in the midst of a case: what it has acknowledged has to outlast its process."""

from __future__ import annotations

from conformance.endpoints.restart import How, restart
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

    def _restart(self, how: How) -> None:
        session, target = self._session, self._session.target
        target.be_alone()
        session.settle()
        restart(target.profile, target.base_url, how, target.restarter, target.pause)
        session.recent_reads.forget()
        session.log.note_restart()
