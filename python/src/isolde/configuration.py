# SPDX-License-Identifier: Apache-2.0
"""The configuration of a cluster: nodes, replica groups and their leaders, by version."""

from __future__ import annotations

import time
from typing import Any, NamedTuple, Optional, Sequence
from uuid import UUID

from cassandra.query import SimpleStatement

from isolde._requests import reported_by_node
from isolde.errors import NotCommittedError

#: It changes when leaders do, so a few reads find it at rest.
_MAX_READS = 20

#: Before the second read, and as much longer before each further one.
_PAUSE_SECONDS = 0.005

_NODE_COLUMNS = "host_id, address, cql_address, datacenter, rack, state, version"
_GROUP_COLUMNS = (
    "group_id, keyspace_name, group_number, ranges, members, leader_id, term, state, version"
)
_NODES = f"SELECT {_NODE_COLUMNS}, configuration_version FROM isolde.ring"
_GROUPS = f"SELECT {_GROUP_COLUMNS}, configuration_version FROM isolde.groups"


class ConfiguredNode(NamedTuple):
    """A node of the ring; it is up as long as the oracle hears of it."""

    host_id: UUID
    address: str
    cql_address: str
    datacenter: str
    rack: str
    is_up: bool
    version: int


class ConfiguredGroup(NamedTuple):
    """A replica group; its leader is the one that led it last, and up if the group is led."""

    id: UUID
    keyspace: str
    number: int
    ranges: Sequence[str]
    members: Sequence[str]
    leader_id: UUID
    term: int
    is_led: bool
    version: int


class ClusterConfiguration(NamedTuple):
    """Nodes and replica groups at one version; of two, that with the higher version is newer."""

    version: int
    nodes: Sequence[ConfiguredNode]
    groups: Sequence[ConfiguredGroup]

    def leader_of(self, group: ConfiguredGroup) -> Optional[ConfiguredNode]:
        """The node that led a group last; None if it has left the ring."""
        return next((node for node in self.nodes if node.host_id == group.leader_id), None)

    def groups_of(self, keyspace: str) -> Sequence[ConfiguredGroup]:
        """The groups of a strong keyspace."""
        return [group for group in self.groups if group.keyspace == keyspace]


def read(session: Any) -> ClusterConfiguration:
    """Reads both tables until they are of one version."""
    for attempt in range(_MAX_READS):
        time.sleep(attempt * _PAUSE_SECONDS)
        groups = _rows(session, _GROUPS)
        nodes = _rows(session, _NODES)
        # Without groups there is no version of theirs. A second look finds those of meanwhile.
        others = groups or _rows(session, _GROUPS)
        versions = {row[-1] for row in nodes} | {row[-1] for row in others}
        if not versions:
            return ClusterConfiguration(0, (), ())
        if len(versions) == 1 and len(groups) == len(others) and (nodes or not others):
            return ClusterConfiguration(
                versions.pop(),
                tuple(_node(row) for row in nodes),
                tuple(_group(row) for row in others),
            )
    raise NotCommittedError(
        f"The configuration of the cluster has changed during each of {_MAX_READS} reads. Try again.",
        {"code": "ORACLE_OVERLOADED", "retryable": "true", "outcome": "not_committed"},
    )


def _rows(session: Any, select: str) -> list[Sequence[Any]]:
    try:
        rows = list(session.execute(SimpleStatement(select, is_idempotent=True)))
    except Exception as error:
        report = reported_by_node(error)
        if report is None:
            raise
        raise report from error
    return [tuple(row.values()) if isinstance(row, dict) else tuple(row) for row in rows]


def _node(row: Sequence[Any]) -> ConfiguredNode:
    host_id, address, cql_address, datacenter, rack, state, version, _ = row
    return ConfiguredNode(host_id, address, cql_address, datacenter, rack, state == "UP", version)


def _group(row: Sequence[Any]) -> ConfiguredGroup:
    identity, keyspace, number, ranges, members, leader, term, state, version, _ = row
    return ConfiguredGroup(
        identity,
        keyspace,
        number,
        tuple(ranges or ()),
        tuple(members or ()),
        leader,
        term,
        state == "LED",
        version,
    )
