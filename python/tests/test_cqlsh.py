# SPDX-License-Identifier: Apache-2.0
"""What the driver makes of a strong keyspace's options."""

from __future__ import annotations

import pytest
from cassandra import metadata
from cassandra.metadata import ReplicationStrategy

from isolde.cqlsh import ReplicatedLogStrategy, register_strategy

_STORED = {
    "replication_factor": "5",
    "east": "3",
    "west": "2",
    "leaders": "east",
    "groups": "2",
    "durability": "periodic",
}
_MADE = {"layout": "1;a@b", "incarnation": "00000000-0000-0000-0000-000000000001"}


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """For these tests only: with it the driver routes differently."""
    monkeypatch.setattr(metadata, "_replication_strategies", {**metadata._replication_strategies})
    register_strategy()


def _strategy(options: dict[str, str]) -> ReplicationStrategy:
    return ReplicationStrategy.create(ReplicatedLogStrategy.name, options)


def test_when_a_keyspace_is_described_then_all_that_create_keyspace_takes_is_there() -> None:
    strategy = _strategy({**_STORED, **_MADE})
    assert isinstance(strategy, ReplicatedLogStrategy)
    assert strategy.export_for_schema() == (
        "{'class': 'io.isolde.replication.ReplicatedLogStrategy', 'durability': 'periodic',"
        " 'east': '3', 'groups': '2', 'leaders': 'east', 'replication_factor': '5', 'west': '2'}"
    )


def test_when_there_is_only_a_replication_factor_then_only_that_is_described() -> None:
    assert _strategy({"replication_factor": "3", **_MADE}).export_for_schema() == (
        "{'class': 'io.isolde.replication.ReplicatedLogStrategy', 'replication_factor': '3'}"
    )


def test_when_a_name_has_a_quote_then_it_is_doubled() -> None:
    assert "'o''hare': '1'" in _strategy({"replication_factor": "1", "o'hare": "1"}).export_for_schema()
