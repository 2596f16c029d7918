# SPDX-License-Identifier: Apache-2.0
"""cqlsh that knows where the replicas of strong keyspaces are::

    python -m isolde.cqlsh -e "COPY bank.accounts FROM 'accounts.csv' WITH MAXBATCHSIZE = 1"

The driver knows Cassandra's replication strategies only, and COPY FROM fails in a keyspace whose
replicas it does not know. Importing this module tells it of ``ReplicatedLogStrategy``: for
applications, too, which then send their requests to replicas.
"""

from __future__ import annotations

import sys

from cassandra import metadata


class ReplicatedLogStrategy(metadata.SimpleStrategy):  # type: ignore[misc]
    """The nodes that follow a range on the ring, until replicas are moved: any node will do."""

    name = "io.isolde.replication.ReplicatedLogStrategy"

    def export_for_schema(self) -> str:
        return f"{{'class': '{self.name}', 'replication_factor': '{self.replication_factor}'}}"


metadata._replication_strategies[ReplicatedLogStrategy.name] = ReplicatedLogStrategy


def main() -> None:
    """Runs cqlsh, with its arguments."""
    try:
        from cqlshlib.__main__ import main as cqlsh
    except ImportError:
        sys.exit("cqlsh is not installed for this Python: pip install cqlsh")
    cqlsh()


if __name__ == "__main__":
    main()
