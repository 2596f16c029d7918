# SPDX-License-Identifier: Apache-2.0
"""Requests of strong keyspaces go to the node that leads::

    policy = LeaderFirstPolicy(RoundRobinPolicy())
    profile = ExecutionProfile(load_balancing_policy=policy)
    session = Cluster(..., execution_profiles={EXEC_PROFILE_DEFAULT: profile}).connect()
    policy.follow(session)

A node that had to pass a request on says in its answer which node leads. The policy asks that node
first the next time, for all partitions of the same replica group. What it does not know goes where
the other policy says.
"""

from __future__ import annotations

import bisect
import ipaddress
import struct
import threading
import uuid
from typing import Any, Generic, Iterator, NamedTuple, TypeVar

from cassandra import ConsistencyLevel, OperationTimedOut
from cassandra.cluster import NoHostAvailable
from cassandra.connection import ConnectionException
from cassandra.metadata import (
    LocalStrategy,
    Murmur3Token,
    NetworkTopologyStrategy,
    SimpleStrategy,
)
from cassandra.policies import HostDistance, LoadBalancingPolicy

LEADER = "isolde-leader"
GROUP = "isolde-group"
MAX_RANGES = 10_000
_GROUP = struct.Struct(">16sqq")
_ANY_REPLICA = (ConsistencyLevel.ONE, ConsistencyLevel.LOCAL_ONE)
_PLAIN = (SimpleStrategy, NetworkTopologyStrategy, LocalStrategy)
_NO_ANSWER = (OperationTimedOut, NoHostAvailable, ConnectionException)

H = TypeVar("H")


class Range(NamedTuple):
    """A token range of a group: above its start, up to its end, around the ring if not less."""

    group: uuid.UUID
    start: int
    end: int

    def contains(self, token: int) -> bool:
        if self.start < self.end:
            return self.start < token <= self.end
        return token > self.start or token <= self.end

    def overlaps(self, other: Range) -> bool:
        return self.contains(other.end) or other.contains(self.end)


class Leaders(Generic[H]):
    """Who leads which ranges, as far as answers say. Thread-safe and bounded."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ranges: dict[str, tuple[list[int], list[Range]]] = {}
        self._leaders: dict[uuid.UUID, H] = {}
        self._count = 0

    def learn(self, keyspace: str, known: Range, leader: H) -> None:
        """A node leads the group of a range."""
        with self._lock:
            if self._find(keyspace, known.end) != known:
                self._add(keyspace, known)
            self._leaders[known.group] = leader

    def _add(self, keyspace: str, known: Range) -> None:
        if self._count >= MAX_RANGES:
            self._ranges, self._count, self._leaders = {}, 0, {}
        ranges = self._ranges.get(keyspace, ([], []))[1]
        # Those that overlap were of a keyspace of that name that was dropped.
        kept = [one for one in ranges if not one.overlaps(known)]
        for gone in {one.group for one in ranges} - {one.group for one in kept}:
            self._leaders.pop(gone, None)
        kept.append(known)
        kept.sort(key=lambda one: one.end)
        self._ranges[keyspace] = [one.end for one in kept], kept
        self._count += len(kept) - len(ranges)

    def knows(self, keyspace: str) -> bool:
        """Whether anything is known of a keyspace."""
        return keyspace in self._ranges

    def leader(self, keyspace: str, token: int) -> H | None:
        """Returns the node that leads a token's group; None if that is not known."""
        with self._lock:
            found = self._find(keyspace, token)
            return None if found is None else self._leaders.get(found.group)

    def doubt(self, keyspace: str, token: int, leader: H) -> None:
        """A node is perhaps not the leader of a token's group, if it was taken for that."""
        with self._lock:
            found = self._find(keyspace, token)
            if found is not None and self._leaders.get(found.group) == leader:
                del self._leaders[found.group]

    def _find(self, keyspace: str, token: int) -> Range | None:
        if keyspace not in self._ranges:
            return None
        ends, ranges = self._ranges[keyspace]
        found = ranges[bisect.bisect_left(ends, token) % len(ranges)]
        return found if found.contains(token) else None


class LeaderFirstPolicy(LoadBalancingPolicy):  # type: ignore[misc]
    """Asks the leader of a strong keyspace's partition first, where it is known.

    A SELECT at ONE or LOCAL_ONE goes where the other policy says, as any replica answers it. The
    level is the statement's own, or that of the cluster's default profile.
    """

    def __init__(self, policy: LoadBalancingPolicy) -> None:
        self._policy = policy
        self._leaders: Leaders[Any] = Leaders()
        self._cluster: Any = None

    def follow(self, session: Any) -> None:
        """Learns from the answers that a session gets. To be called once for each session."""
        session.add_request_init_listener(self._listen)

    def make_query_plan(
        self, working_keyspace: str | None = None, query: Any = None
    ) -> Iterator[Any]:
        plan = self._policy.make_query_plan(working_keyspace, query)
        place = self._place(working_keyspace, query)
        leader = None if place is None else self._leader(place)
        if leader is None:
            yield from plan
            return
        yield leader
        yield from (host for host in plan if host != leader)

    def _leader(self, place: tuple[str, int]) -> Any:
        """The leader, if it can be asked."""
        leader = self._leaders.leader(*place)
        can_be_asked = leader and leader.is_up and self.distance(leader) != HostDistance.IGNORED
        return leader if can_be_asked else None

    def _place(self, working_keyspace: str | None, query: Any) -> tuple[str, int] | None:
        keyspace = getattr(query, "keyspace", None) or working_keyspace
        if not keyspace or not self._leaders.knows(keyspace) or self._is_plain(keyspace):
            return None
        key = None if self._is_of_any_replica(query) else getattr(query, "routing_key", None)
        return None if key is None else (keyspace, Murmur3Token.hash_fn(key))

    def _is_plain(self, keyspace: str) -> bool:
        """A strong keyspace may be dropped, and another one of its name made."""
        known = self._cluster.metadata.keyspaces.get(keyspace)
        return known is not None and type(known.replication_strategy) in _PLAIN

    def _is_of_any_replica(self, query: Any) -> bool:
        statement = getattr(query, "prepared_statement", query)
        text = getattr(statement, "query_string", None) or ""
        level = query.consistency_level
        if level is None:
            level = self._cluster.profile_manager.default.consistency_level
        return text.lstrip()[:6].upper() == "SELECT" and level in _ANY_REPLICA

    def _listen(self, future: Any) -> None:
        query = future.query
        keyspace = getattr(query, "keyspace", None) or future.session.keyspace
        if keyspace is None or getattr(future, "_host", None) is not None:
            return  # a request for a node of its own, as in a transaction
        place = self._place(keyspace, query)
        asked = None if place is None else self._leader(place)

        def answered(rows: Any) -> None:
            self._learn(keyspace, getattr(future, "_custom_payload", None))
            if place is not None and asked is not None and future.coordinator_host != asked:
                self._leaders.doubt(*place, asked)

        def failed(error: Any) -> None:
            if place is not None and asked is not None and isinstance(error, _NO_ANSWER):
                self._leaders.doubt(*place, asked)

        future.add_callbacks(answered, failed)

    def _learn(self, keyspace: str, payload: dict[str, bytes] | None) -> None:
        if not payload or LEADER not in payload or len(payload.get(GROUP, b"")) != _GROUP.size:
            return
        host = self._host(payload[LEADER].decode())
        if host is not None:
            group, start, end = _GROUP.unpack(payload[GROUP])
            self._leaders.learn(keyspace, Range(uuid.UUID(bytes=group), start, end), host)

    def _host(self, address: str) -> Any:
        text, _, port = address.rpartition(":")
        try:
            wanted = (ipaddress.ip_address(text.strip("[]")), int(port))
        except ValueError:
            return None  # of a node that has no address for clients yet
        for host in self._cluster.metadata.all_hosts():
            # What the node says of itself, and if it says nothing, what the driver connects to.
            address = host.broadcast_rpc_address or host.endpoint.address
            port = host.broadcast_rpc_port or host.endpoint.port
            try:
                if (ipaddress.ip_address(address), port) == wanted:
                    return host
            except ValueError:
                continue  # a name, behind which the driver has found it
        return None

    def populate(self, cluster: Any, hosts: Any) -> None:
        self._cluster = cluster
        self._policy.populate(cluster, hosts)

    def distance(self, host: Any) -> Any:
        return self._policy.distance(host)

    def check_supported(self) -> None:
        self._policy.check_supported()

    def on_up(self, host: Any) -> None:
        self._policy.on_up(host)

    def on_down(self, host: Any) -> None:
        self._policy.on_down(host)

    def on_add(self, host: Any) -> None:
        self._policy.on_add(host)

    def on_remove(self, host: Any) -> None:
        self._policy.on_remove(host)
