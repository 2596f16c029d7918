# SPDX-License-Identifier: Apache-2.0
"""The policy that asks leaders first, on three nodes."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import time
from collections import Counter
from typing import Any, Iterator

import pytest
from cassandra import ConsistencyLevel
from cassandra.cluster import EXEC_PROFILE_DEFAULT, Cluster, ExecutionProfile
from cassandra.policies import DCAwareRoundRobinPolicy, TokenAwarePolicy

from conftest import Trio
from isolde import Isolde
from isolde.routing import LEADER, LeaderFirstPolicy

_SECOND = "127.0.40.2"
_KEYS = 60
_GROUPS = 3
_SECONDS = 120


@pytest.fixture
def routed(trio: Trio) -> Iterator[Any]:
    policy = LeaderFirstPolicy(TokenAwarePolicy(DCAwareRoundRobinPolicy()))
    profile = ExecutionProfile(
        load_balancing_policy=policy, consistency_level=ConsistencyLevel.QUORUM, request_timeout=30
    )
    with Cluster([Trio.FIRST], execution_profiles={EXEC_PROFILE_DEFAULT: profile}) as cluster:
        session = cluster.connect()
        policy.follow(session)
        session.execute(
            "CREATE KEYSPACE r WITH replication = {'class': 'ReplicatedLogStrategy',"
            f" 'replication_factor': 3, 'groups': {_GROUPS}}}"
        )
        session.execute("CREATE TABLE r.t (p int PRIMARY KEY, v int)")
        yield session


class Requests:
    """Writes and reads of all keys, and what became of them."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self._write = session.prepare("UPDATE r.t SET v = ? WHERE p = ?")
        self._read = session.prepare("SELECT v FROM r.t WHERE p = ?")
        self.passed_on = 0
        self.asked: Counter[str] = Counter()

    def run(self, value: int) -> None:
        self.passed_on = 0
        self.asked.clear()
        for key in range(_KEYS):
            self._answer(self._write.bind((value, key)))
            assert self._answer(self._read.bind((key,))).one().v == value

    def run_until_direct(self, value: int) -> None:
        """Leaders may change at any time."""
        deadline = time.monotonic() + _SECONDS
        self.run(value)
        while self.passed_on > 0:
            assert time.monotonic() < deadline
            self.run(value)

    def read_at_one(self) -> int:
        """How many nodes were asked."""
        self.asked.clear()
        for _ in range(_KEYS):
            statement = self._read.bind((7,))
            statement.consistency_level = ConsistencyLevel.ONE
            self._answer(statement)
        return len(self.asked)

    def _answer(self, statement: Any) -> Any:
        statement.is_idempotent = True
        future = self._session.execute_async(statement)
        rows = future.result()
        self.passed_on += LEADER in (future.custom_payload or {})
        self.asked[future.coordinator_host.address] += 1
        return rows


def test_when_answers_name_leaders_then_requests_go_there(routed: Any, trio: Trio) -> None:
    requests = Requests(routed)
    requests.run(1)
    assert requests.passed_on > 0
    requests.run_until_direct(2)
    _await_groups(routed)  # A leader that has moved before is registered, not new.
    routed.execute(f"ALTER KEYSPACE r LEADER '{_SECOND}'")
    requests.run(3)
    assert requests.passed_on < _KEYS
    requests.run_until_direct(4)
    assert set(requests.asked) == {_SECOND}
    deadline = time.monotonic() + _SECONDS
    while requests.read_at_one() < 3:
        assert time.monotonic() < deadline, requests.asked
    assert _addresses_of_leaders(routed, {_SECOND}) == {_SECOND}
    ring = trio.ring()
    assert len([line for line in ring if line.startswith("node ") and ": up, " in line]) == 3
    assert len([line for line in ring if f": led by {_SECOND} " in line]) == _GROUPS
    assert any("new leader" in line and "term" in line for line in trio.ring("--history"))


def _await_groups(session: Any) -> None:
    """Leaders report their groups to the configuration a little late."""
    deadline = time.monotonic() + _SECONDS
    while len(Isolde(session).configuration().groups_of("r")) < _GROUPS:
        assert time.monotonic() < deadline
        time.sleep(0.2)


def _addresses_of_leaders(session: Any, awaited: set[str]) -> set[str]:
    """As the configuration has them; leaders report to it, so it may be a little late."""
    deadline = time.monotonic() + _SECONDS
    while True:
        configuration = Isolde(session).configuration()
        assert len(configuration.nodes) == 3
        groups = configuration.groups_of("r")
        assert len(groups) == _GROUPS
        assert all(len(group.members) == 3 for group in groups)
        leaders = [configuration.leader_of(group) for group in groups]
        addresses = {leader.address for leader in leaders if leader is not None and leader.is_up}
        if addresses == awaited or time.monotonic() > deadline:
            return addresses
        time.sleep(0.2)


@pytest.mark.parametrize(
    ("language", "fetch", "checks"),
    [
        ("go", ("go", "mod", "download"), [("go", "test", "./routing"), ("go", "run", "./routing")]),
        ("node", ("npm", "install", "--no-audit", "--no-fund"), [("node", "routing.js")]),
    ],
)
def test_when_an_example_routes_then_no_request_is_passed_on_in_the_end(
    trio: Trio,
    tmp_path: pathlib.Path,
    language: str,
    fetch: tuple[str, ...],
    checks: list[tuple[str, ...]],
) -> None:
    if shutil.which(fetch[0]) is None:
        pytest.skip(f"{fetch[0]} is not installed")
    examples = pathlib.Path(os.environ["ISOLDE_HOME"]) / "examples"
    folder = pathlib.Path(shutil.copytree(examples / language, tmp_path / language))
    fetched = _run(folder, *fetch)
    if fetched.returncode != 0:
        pytest.skip(f"{fetch} could not fetch the packages: {fetched.stdout}")
    for command in checks:
        done = _run(folder, *command)
        assert done.returncode == 0, done.stdout
    rounds = done.stdout.splitlines()
    assert ": 0 of " not in rounds[0], done.stdout
    assert ": 0 of 120 requests were passed on." in rounds[-1], done.stdout


def _run(folder: pathlib.Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "CASSANDRA": Trio.FIRST, "GOFLAGS": "-mod=mod"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=2 * _SECONDS,
    )
