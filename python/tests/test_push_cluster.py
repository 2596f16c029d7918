# SPDX-License-Identifier: Apache-2.0
"""A pushed watch on three nodes, one of which stops."""

from __future__ import annotations

import threading
import time
from typing import Any

from cassandra.cluster import EXEC_PROFILE_DEFAULT, Cluster, ExecutionProfile

from conftest import Trio
from isolde import Change, Isolde, Push

_WRITES = 50
_PAUSE_SECONDS = 0.02
_TABLE = "pushed.t"


class Writer(threading.Thread):
    """Writes, stops the node of the watch, writes again, and starts it."""

    def __init__(self, session: Any, trio: Trio) -> None:
        super().__init__(daemon=True)
        self._session = session
        self._trio = trio
        #: When the last write was committed; then one more follows.
        self.end = 0

    def run(self) -> None:
        node = self._watched_node()
        self._write()
        self._trio.run("stop", "--node", node)
        self._write()
        self.end = _now(self._session)
        self._write()
        self._trio.run("start", "--node", node)

    def _watched_node(self) -> str:
        while True:
            for row in self._session.execute("SELECT node, watchers FROM isolde.push_nodes"):
                if row.watchers > 0:
                    return str(row.node.rpartition(".")[2])
            time.sleep(_PAUSE_SECONDS)

    def _write(self) -> None:
        for value in range(_WRITES):
            try:
                self._session.execute(f"UPDATE {_TABLE} SET v = {value} WHERE p = 1")
            except Exception:  # It may be committed or not.
                time.sleep(_PAUSE_SECONDS)
            time.sleep(_PAUSE_SECONDS)


def _now(session: Any) -> int:
    rows = session.execute(f"SELECT CHANGES FROM {_TABLE} AFTER NOW WITHIN 0 MILLISECONDS")
    return int(list(rows)[-1].timestamp)


def test_when_the_node_of_a_pushed_watch_stops_then_each_commit_comes_once(trio: Trio) -> None:
    profile = ExecutionProfile(request_timeout=30)
    with Cluster([Trio.FIRST], execution_profiles={EXEC_PROFILE_DEFAULT: profile}) as cluster:
        session = cluster.connect()
        session.execute(
            "CREATE KEYSPACE pushed WITH replication ="
            " {'class': 'SimpleStrategy', 'replication_factor': 3}"
        )
        session.execute(f"CREATE TABLE {_TABLE} (p int PRIMARY KEY, v int)")
        session.execute(f"ENABLE TRANSACTIONS ON {_TABLE}")
        begin = _now(session)
        writer = Writer(session, trio)
        writer.start()
        select = f"SELECT CHANGES FROM {_TABLE} WHERE p = ?"
        watch = Isolde(session).watch(select, [1], after=begin, push=Push())
        heard = []
        for event in watch:
            assert isinstance(event, Change)
            heard.append(event.timestamp)
            if 0 < writer.end < event.timestamp:
                break
        watch.close()
        writer.join()
        rows = session.execute(
            f"SELECT CHANGES FROM {_TABLE} WHERE p = 1 AFTER {begin} WITHIN 0 MILLISECONDS"
        )
        committed = [row.timestamp for row in rows if row.event == "change"]
    assert len(heard) > _WRITES
    assert heard == committed[: len(heard)]
