# SPDX-License-Identifier: Apache-2.0
"""A pushed watch without a node: what it does when it moves, and what it needs."""

from __future__ import annotations

import json
import sys
from types import ModuleType
from typing import Any, Optional

import pytest
from cassandra import Unauthorized
from cassandra.policies import HostDistance

from isolde.push import Push, PushedWatch
from isolde.watch import Change

_NAMES = ["websockets", "websockets.sync", "websockets.sync.client", "websockets.exceptions"]


class Socket:
    """Says the messages that it was given, and then nothing."""

    def __init__(self, *messages: dict[str, Any]) -> None:
        self.messages = list(messages)
        self.is_closed = False

    def send(self, message: str) -> None:
        pass

    def recv(self, timeout: float) -> str:
        return json.dumps(self.messages.pop(0))

    def close(self) -> None:
        self.is_closed = True


class Host:
    def __init__(self, datacenter: str) -> None:
        self.datacenter = datacenter


class Session:
    """Knows some ports, if the role may read that. The driver's data centre is ``near``."""

    def __init__(self, error: Optional[Exception] = None) -> None:
        self.error = error
        self.is_shutdown = False
        self.places = [("first:7314", False, "near")]
        self.cluster = self.metadata = self.profile_manager = self

    def all_hosts(self) -> list[Host]:
        return [Host("near"), Host("far")]

    def distance(self, host: Host) -> Any:
        return HostDistance.LOCAL if host.datacenter == "near" else HostDistance.REMOTE

    def execute(self, statement: Any, *args: Any, **options: Any) -> list[Any]:
        if self.error is not None and "push_nodes" in str(statement):
            raise self.error
        return list(self.places) if "push_nodes" in str(statement) else [("change", 9)]

    def prepare(self, select: str) -> Any:
        return ModuleType(select)


@pytest.fixture
def sockets(monkeypatch: pytest.MonkeyPatch) -> dict[str, Socket]:
    """By address."""
    modules = {name: ModuleType(name) for name in _NAMES}
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
        parent, _, child = name.rpartition(".")
        if parent:
            setattr(modules[parent], child, module)
    sockets: dict[str, Socket] = {}

    def connect(uri: str, **options: Any) -> Socket:
        return sockets[uri.removeprefix("ws://").removesuffix("/changes")]

    setattr(modules["websockets.sync.client"], "connect", connect)
    setattr(modules["websockets.exceptions"], "InvalidStatus", OSError)
    return sockets


def _watch(session: Session, after: Optional[int] = None) -> PushedWatch:
    watch = PushedWatch(Push(), session, "SELECT CHANGES FROM a.b", (), after)
    watch._bytes = []
    return watch


def test_when_the_extra_is_missing_then_it_shows_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in _NAMES:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match="push"):
        _watch(Session())


def test_when_it_moves_then_a_move_meanwhile_is_ignored(sockets: dict[str, Socket]) -> None:
    sockets["first:7314"] = Socket({"type": "move", "address": "second:7314"})
    sockets["second:7314"] = Socket(
        {"type": "move", "address": "third:7314"},
        {"type": "changes", "id": 1, "timestamps": [5, 7], "position": 7},
        {"type": "changes", "id": 1, "timestamps": [8], "position": 8},
    )
    events = iter(_watch(Session(), after=5))
    assert [next(events), next(events)] == [Change(7), Change(8)]
    assert sockets["first:7314"].is_closed
    assert not sockets["second:7314"].is_closed


def test_when_a_loop_is_left_then_the_next_one_gets_its_last_event_again(
    sockets: dict[str, Socket],
) -> None:
    both = {"type": "changes", "id": 1, "timestamps": [5, 6], "position": 6}
    sockets["first:7314"] = Socket(both, both)
    watch = _watch(Session(), after=3)
    assert next(iter(watch)) == Change(5)
    events = iter(watch)
    assert [next(events), next(events)] == [Change(5), Change(6)]


def test_when_the_grant_is_missing_then_it_asks_by_itself(sockets: dict[str, Socket]) -> None:
    assert next(iter(_watch(Session(Unauthorized("no grant"))))) == Change(9)


def test_when_a_port_is_in_another_data_centre_then_the_near_one_is_taken(
    sockets: dict[str, Socket],
) -> None:
    session = Session()
    session.places.insert(0, ("second:7314", False, "far"))
    watch = _watch(session, after=5)
    assert watch._places() == [("first:7314", False)]
    session.places.pop()
    assert watch._places() == [("second:7314", False)]


def test_when_no_port_answers_eight_times_then_it_asks_by_itself(
    sockets: dict[str, Socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    session = Session()
    tries: list[str] = []
    watch = _watch(session, after=5)

    def connect(uri: str, **options: Any) -> Socket:
        tries.append(uri)
        raise ConnectionRefusedError

    watch._connect = connect
    events = iter(watch)
    assert [next(events), next(events)] == [Change(9), Change(9)]
    assert len(tries) == 8
