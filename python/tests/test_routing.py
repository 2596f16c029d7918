# SPDX-License-Identifier: Apache-2.0
"""Who leads, as the policy learns it from answers."""

from __future__ import annotations

import random
import uuid
from types import SimpleNamespace
from typing import Any, Callable

import pytest
from cassandra import ConsistencyLevel, InvalidRequest, OperationTimedOut
from cassandra.metadata import Murmur3Token, SimpleStrategy
from cassandra.policies import RoundRobinPolicy

from isolde import routing
from isolde.routing import LeaderFirstPolicy, Leaders, Range

_GROUP = uuid.UUID(int=1)
_OTHER = uuid.UUID(int=2)
_KEY = b"\x00\x00\x00\x07"


def test_when_a_group_has_a_new_leader_then_all_its_ranges_have() -> None:
    leaders: Leaders[str] = Leaders()
    leaders.learn("k", Range(_GROUP, 10, 20), "a")
    leaders.learn("k", Range(_OTHER, 20, 30), "a")
    leaders.learn("k", Range(_GROUP, 30, 10), "b")
    assert [leaders.leader("k", token) for token in (10, 11, 20, 21, 30, 31, -(2**63))] == [
        "b", "b", "b", "a", "a", "b", "b",
    ]  # fmt: skip
    leaders.doubt("k", 15, "a")  # It is not about the leader of now.
    assert leaders.leader("k", 31) == "b"
    leaders.doubt("k", 15, "b")
    assert leaders.leader("k", 31) is None
    assert leaders.leader("k", 25) == "a"
    assert leaders.leader("other", 25) is None


def test_when_there_are_too_many_ranges_then_it_begins_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(routing, "MAX_RANGES", 100)
    leaders: Leaders[str] = Leaders()
    for number in range(101):
        leaders.learn(f"k{number % 7}", Range(_GROUP, number, number + 1), "a")
    assert leaders.leader("k0", 1) is None
    assert leaders.leader("k2", 101) == "a"


def test_when_many_ranges_are_learned_then_the_newest_of_a_token_counts() -> None:
    seed = random.randrange(2**32)
    numbers = random.Random(seed)
    for _ in range(200):
        leaders: Leaders[int] = Leaders()
        learned: list[tuple[set[int], int]] = []
        for step in range(15):
            known = Range(uuid.UUID(int=step), numbers.randrange(24), numbers.randrange(24))
            leaders.learn("k", known, step)
            tokens = _counted(known)
            learned = [one for one in learned if not one[0] & tokens] + [(tokens, step)]
            for token in range(-1, 25):
                expected = [leader for all_of_it, leader in learned if token in all_of_it]
                found = leaders.leader("k", token)
                assert ([] if found is None else [found]) == expected, f"seed {seed}"


def _counted(known: Range) -> set[int]:
    tokens: set[int] = set()
    token = known.start
    while True:
        token = -5 if token == 30 else token + 1
        tokens.add(token)
        if token == known.end:
            return tokens


class Host:
    def __init__(self, address: str) -> None:
        self.endpoint = SimpleNamespace(address="192.168.0.1", port=31042)  # translated
        self.broadcast_rpc_address = address
        self.broadcast_rpc_port = 9042
        self.is_up = True


class Answer:
    """A response future whose answer has come."""

    def __init__(
        self,
        payload: dict[str, bytes] | None = None,
        by: Any = None,
        error: Exception | None = None,
        host: Any = None,
    ) -> None:
        self.session = SimpleNamespace(keyspace=None)
        self.query = _query()
        self.coordinator_host = by
        self._custom_payload = payload
        self._error = error
        self._host = host

    def add_callbacks(
        self, callback: Callable[[Any], None], errback: Callable[[Any], None]
    ) -> None:
        callback([]) if self._error is None else errback(self._error)


def _query(
    text: str = "UPDATE k.t SET v = 1 WHERE p = 7", key: bytes | None = _KEY, level: Any = None
) -> Any:
    return SimpleNamespace(
        routing_key=key, keyspace="k", query_string=text, consistency_level=level
    )


class Routed:
    def __init__(self) -> None:
        self.hosts = [Host("10.0.0.1"), Host("10.0.0.2"), Host("fd00::3")]
        profiles = SimpleNamespace(
            default=SimpleNamespace(consistency_level=ConsistencyLevel.LOCAL_ONE)
        )
        self.keyspaces: dict[str, Any] = {}
        metadata = SimpleNamespace(all_hosts=lambda: self.hosts, keyspaces=self.keyspaces)
        cluster = SimpleNamespace(metadata=metadata, profile_manager=profiles)
        self.policy = LeaderFirstPolicy(RoundRobinPolicy())
        self.policy.populate(cluster, self.hosts)
        session = SimpleNamespace(add_request_init_listener=self._set)
        self.policy.follow(session)

    def _set(self, listener: Callable[[Any], None]) -> None:
        self.answered = listener

    def learn(self, address: str, group: bytes | None = None) -> None:
        whole_ring = routing._GROUP.pack(_GROUP.bytes, 0, 0)
        payload = {"isolde-leader": address.encode(), "isolde-group": group or whole_ring}
        self.answered(Answer(payload))

    def asked_first(self, query: Any) -> set[Any]:
        plans = [list(self.policy.make_query_plan(None, query)) for _ in range(6)]
        assert all(sorted(map(id, plan)) == sorted(map(id, self.hosts)) for plan in plans)
        return {plan[0] for plan in plans}


@pytest.mark.parametrize(("address", "number"), [("10.0.0.2:9042", 1), ("[fd00::3]:9042", 2)])
def test_when_an_answer_names_the_leader_then_it_is_asked_first(address: str, number: int) -> None:
    routed = Routed()
    assert len(routed.asked_first(_query())) == 3
    routed.learn(address)
    assert routed.asked_first(_query()) == {routed.hosts[number]}
    at_quorum = _query("SELECT * FROM k.t WHERE p = 7", level=ConsistencyLevel.QUORUM)
    assert routed.asked_first(at_quorum) == {routed.hosts[number]}


def test_when_any_replica_will_do_or_the_place_is_not_known_then_any_node_is_asked() -> None:
    routed = Routed()
    routed.learn("10.0.0.2:9042")
    for query in (
        _query("  select v FROM k.t WHERE p = 7"),
        _query("SELECT v FROM k.t WHERE p = 7", level=ConsistencyLevel.ONE),
        _query(key=None),
        None,
    ):
        assert len(routed.asked_first(query)) == 3


def test_when_the_leader_is_down_then_any_node_is_asked() -> None:
    routed = Routed()
    routed.learn("10.0.0.2:9042")
    routed.hosts[1].is_up = False
    assert len(routed.asked_first(_query())) == 3


@pytest.mark.parametrize(
    ("answer", "is_kept"),
    [
        (lambda hosts: Answer(by=hosts[1]), True),
        (lambda hosts: Answer(error=InvalidRequest("it is wrong"), by=hosts[1]), True),
        (lambda hosts: Answer(error=OperationTimedOut(), host=hosts[0]), True),
        (lambda hosts: Answer(error=OperationTimedOut()), False),
        (lambda hosts: Answer(by=hosts[0]), False),
    ],
)
def test_when_the_leader_does_not_answer_or_another_does_then_it_is_forgotten(
    answer: Callable[[Any], Answer], is_kept: bool
) -> None:
    routed = Routed()
    routed.learn("10.0.0.2:9042")
    routed.answered(answer(routed.hosts))
    assert len(routed.asked_first(_query())) == (1 if is_kept else 3)


def test_when_the_keyspace_is_made_again_as_a_plain_one_then_any_node_is_asked() -> None:
    routed = Routed()
    routed.learn("10.0.0.2:9042")
    plain = SimpleStrategy({"replication_factor": "1"})
    routed.keyspaces["k"] = SimpleNamespace(replication_strategy=plain)
    assert len(routed.asked_first(_query())) == 3


@pytest.mark.parametrize("address", ["", "10.0.0.2", "10.0.0.2:x", "10.0.0.9:9042", "name:9042"])
def test_when_an_address_is_not_understood_or_known_then_nothing_is_learned(address: str) -> None:
    routed = Routed()
    routed.learn(address)
    assert len(routed.asked_first(_query())) == 3
    routed.learn("10.0.0.2:9042", group=b"of another version")
    assert len(routed.asked_first(_query())) == 3


def test_when_a_key_is_hashed_then_it_is_as_cassandra_does() -> None:
    assert Murmur3Token.hash_fn(_KEY) == 1634052884888577606
