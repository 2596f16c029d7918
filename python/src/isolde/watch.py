# SPDX-License-Identifier: Apache-2.0
"""Watches: which commits have changed what a SELECT reads."""

from __future__ import annotations

import random
import time
from typing import Any, Iterator, NamedTuple, Optional, Sequence, Union

from isolde._requests import WRONG_IN_ITSELF, node_errors, reported_by_node
from isolde.errors import IsoldeError

_TAIL = " AFTER ? WITHIN ? MILLISECONDS"
_WAIT_MILLIS = 5_000

#: A node that does not answer by then is perhaps gone.
_TIMEOUT_SECONDS = 10.0
_FIRST_PAUSE_SECONDS = 0.1
_LONGEST_PAUSE_SECONDS = 2.0


class Change(NamedTuple):
    """A commit has changed what is watched, or may have. Who reads now, reads it or something newer."""

    timestamp: int


class Lost(NamedTuple):
    """There may have been changes that nobody knows any more: read what is watched anew.

    What was lost was committed at or before the timestamp; later changes are reported as before.
    """

    timestamp: int


Event = Union[Change, Lost]


class Watch:
    """An iterator over what happens to what a SELECT reads; it ends only if the program leaves it.

    Each commit comes once and in order, whatever happens to nodes and connections in between.
    Who leaves a loop over it and starts another one gets the last event again. For one thread.
    """

    def __init__(
        self, session: Any, select: str, values: Sequence[Any] = (), after: Optional[int] = None
    ) -> None:
        self._session = session
        self._prepared: Any = None
        self._select = select
        self._values = list(values)
        #: Up to where all was reported, in microseconds; another watch after this goes on here.
        self.position = after

    def close(self) -> None:
        """Gives back what it holds: a connection, if changes are pushed."""

    def __iter__(self) -> Iterator[Event]:
        while True:
            for event in self._ask_until_answered():
                if isinstance(event, (Change, Lost)):
                    yield event
                self.position = event.timestamp

    def _ask_until_answered(self) -> list[Union[Change, Lost, _Position]]:
        bound = _FIRST_PAUSE_SECONDS
        while True:
            try:
                return self._ask()
            except Exception as error:
                report = reported_by_node(error)
                if self._is_final(error, report):
                    if report is None:
                        raise
                    raise report from error
            # Another node may answer, or this one later: nothing is missed meanwhile.
            time.sleep(random.random() * bound)
            bound = min(2 * bound, _LONGEST_PAUSE_SECONDS)

    def _is_final(self, error: Exception, report: Optional[IsoldeError]) -> bool:
        """Whether it is of no use to ask again, whoever is asked."""
        if report is not None:
            return not report.retryable
        return self._session.is_shutdown or any(
            isinstance(each, (*WRONG_IN_ITSELF, TypeError, ValueError))
            for each in node_errors(error)
        )

    def _ask(self) -> list[Union[Change, Lost, _Position]]:
        if self._prepared is None:
            self._prepared = self._session.prepare(self._select + _TAIL)
            self._prepared.is_idempotent = True
        values = [*self._values, self.position, _WAIT_MILLIS]
        rows = self._session.execute(self._prepared, values, timeout=_TIMEOUT_SECONDS)
        return [_event(row) for row in rows]


class _Position(NamedTuple):
    timestamp: int


def _event(row: Any) -> Any:
    event, timestamp = (
        (row["event"], row["timestamp"]) if isinstance(row, dict) else (row[0], row[1])
    )
    return _KINDS[event](timestamp)


_KINDS: dict[str, Any] = {"change": Change, "lost": Lost, "position": _Position}
