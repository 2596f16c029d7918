# SPDX-License-Identifier: Apache-2.0
"""cqlsh that knows where the replicas of strong keyspaces are::

    python -m isolde.cqlsh -e "COPY bank.accounts FROM 'accounts.csv' WITH MAXBATCHSIZE = 1"

The driver knows Cassandra's replication strategies only, and COPY FROM fails in a keyspace whose
replicas it does not know. An application whose driver is to know strong keyspaces, too, calls
``register_strategy()`` before it connects.
"""

from __future__ import annotations

import sys

from cassandra import metadata


class ReplicatedLogStrategy(metadata.SimpleStrategy):  # type: ignore[misc]
    """The nodes that follow a range on the ring, until replicas are moved: any node will do."""

    name = "io.isolde.replication.ReplicatedLogStrategy"

    # Made by CREATE KEYSPACE, anew each time.
    _made = ("class", "layout", "incarnation")

    def __init__(self, options_map: dict[str, str]) -> None:
        super().__init__(options_map)
        self._options = {k: str(v) for k, v in options_map.items() if k not in self._made}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ReplicatedLogStrategy) and self._options == other._options

    def export_for_schema(self) -> str:
        """The options that CREATE KEYSPACE takes."""
        options = {"class": self.name, **dict(sorted(self._options.items()))}
        return "{" + ", ".join(f"{_quoted(k)}: {_quoted(v)}" for k, v in options.items()) + "}"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def register_strategy() -> None:
    """Tells the driver of this process about strong keyspaces, for all sessions made later.

    ``TokenAwarePolicy`` then finds replicas: the same one first for each read of a partition,
    unless it has ``shuffle_replicas``.
    """
    metadata._replication_strategies[ReplicatedLogStrategy.name] = ReplicatedLogStrategy


def main() -> None:
    """Runs cqlsh, with its arguments."""
    try:
        from cqlshlib.__main__ import main as cqlsh
    except ImportError:
        sys.exit("cqlsh is not installed for this Python: pip install cqlsh")
    cqlsh()


if __name__ in ("__main__", "__mp_main__"):  # the second: COPY's own processes, where they are not forked
    register_strategy()
if __name__ == "__main__":
    main()
