# SPDX-License-Identifier: Apache-2.0
"""Turns of those who run again after a conflict."""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Iterator
from typing import Any, Optional

MAX_ROWS = 1024
MAX_WAIT_SECONDS = 1.0


class _Row:
    def __init__(self) -> None:
        self.turn = threading.Lock()
        self.users = 0


class Turns:
    """Lets those who had a conflict over the same row try again one after the other.

    All at once, all but one would only have another conflict. It is a courtesy: others write the row
    meanwhile, and whoever has waited for long enough, or comes when 1,024 rows have turns, goes on
    without one. Thread-safe.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rows: dict[str, _Row] = {}

    @contextlib.contextmanager
    def turn(self, row: Optional[str], seconds: float) -> Iterator[None]:
        """The caller's turn of a row, once it has come, or the time is over; of None at once."""
        shared = self._join(row)
        if row is None or shared is None:
            yield
            return
        has_turn = False
        try:
            has_turn = shared.turn.acquire(timeout=min(max(seconds, 0), MAX_WAIT_SECONDS))
            yield
        finally:
            if has_turn:
                shared.turn.release()
            self._leave(row, shared)

    def _join(self, row: Optional[str]) -> Optional[_Row]:
        if row is None:
            return None
        with self._lock:
            shared = self._rows.get(row)
            if shared is None and len(self._rows) < MAX_ROWS:
                shared = self._rows[row] = _Row()
            if shared is not None:
                shared.users += 1
            return shared

    def _leave(self, row: str, shared: _Row) -> None:
        with self._lock:
            shared.users -= 1
            if shared.users == 0:
                del self._rows[row]


_lock = threading.Lock()
_of_sessions: weakref.WeakKeyDictionary[Any, Turns] = weakref.WeakKeyDictionary()


def turns_of(session: Any) -> Turns:
    """Those of all who use the session; of a stand-in for one that can't be remembered, new ones."""
    try:
        with _lock:
            return _of_sessions.setdefault(session, Turns())
    except TypeError:
        return Turns()
