# SPDX-License-Identifier: Apache-2.0
"""Watches whose changes a node pushes, over a port of its own; needs ``isolde-cassandra[push]``."""

from __future__ import annotations

import base64
import json
import random
import ssl
import time
from dataclasses import dataclass
from typing import Any, Iterator, Optional

from cassandra import InvalidRequest, Unauthorized
from cassandra.policies import HostDistance

from isolde.errors import IsoldeError, make
from isolde.watch import Change, Event, Lost, Watch, _Position

#: A node sends a position each five seconds.
_SILENCE_SECONDS = 25.0
_CONNECT_SECONDS = 5.0
_MOVE_SECONDS = 10.0
_UNAUTHORIZED = 401

#: After so many connections in a row that came to nothing, a watch asks by itself for a while.
_MAX_FAILED_OPENS = 8
_WITHOUT_PUSH_SECONDS = 30.0


@dataclass(frozen=True)
class Push:
    """How to reach the ports of the nodes: as a driver logs in, and with certificates to trust."""

    user: Optional[str] = None
    password: Optional[str] = None
    ssl_context: Optional[ssl.SSLContext] = None


class PushedWatch(Watch):
    """A watch with a connection of its own. Where nodes have no such port, it asks as others do."""

    def __init__(self, push: Push, *args: Any) -> None:
        super().__init__(*args)
        try:
            import websockets.sync.client
        except ImportError as error:
            raise ImportError("Pushed watches need isolde-cassandra[push].") from error
        self._connect: Any = websockets.sync.client.connect
        self._push = push
        self._socket: Any = None
        self._is_tls = False
        #: Connections since a node has last reported something.
        self._opens = 0
        #: Of ``time.monotonic``: until then it asks by itself.
        self._asks_until = 0.0
        #: The values as a driver binds them.
        self._bytes: Optional[list[Optional[str]]] = None

    def close(self) -> None:
        """Closes the connection; a loop over it would open another one."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def __iter__(self) -> Iterator[Event]:
        self.close()  # What it has said to a loop that was left, it would not say again.
        return super().__iter__()

    def _ask(self) -> list[Any]:
        if self._socket is None:
            if self._opens >= _MAX_FAILED_OPENS:
                self._opens = 0
                self._asks_until = time.monotonic() + _WITHOUT_PUSH_SECONDS
            places = [] if time.monotonic() < self._asks_until else self._places()
            if not places:
                return super()._ask()
            self._opens += 1
            address, needs_tls = random.choice(places)
            self._is_tls = needs_tls or self._push.ssl_context is not None
            self._socket = self._subscribed(address)
        try:
            return self._events(self._socket, _SILENCE_SECONDS)
        except BaseException:
            self.close()
            raise

    def _places(self) -> list[tuple[str, bool]]:
        """Where nodes push: those of the driver's data centre, if there are any."""
        select = "SELECT address, tls, datacenter FROM isolde.push_nodes"
        try:
            rows = list(self._session.execute(select))
        except (InvalidRequest, Unauthorized):
            return []  # Of an older build, or without the grant.
        every = [tuple(row.values()) if isinstance(row, dict) else tuple(row) for row in rows]
        near = self._near()
        preferred = [place for place in every if place[2] in near] or every
        return [(address, needs_tls) for address, needs_tls, _ in preferred]

    def _near(self) -> set[Optional[str]]:
        """The data centres whose nodes the driver asks first."""
        cluster = self._session.cluster
        return {
            host.datacenter
            for host in cluster.metadata.all_hosts()
            if cluster.profile_manager.distance(host)
            not in (HostDistance.REMOTE, HostDistance.IGNORED)
        }

    def _subscribed(self, address: str) -> Any:
        from websockets.exceptions import InvalidStatus

        headers = {}
        if self._push.user is not None:
            both = f"{self._push.user}:{self._push.password}".encode()
            headers["Authorization"] = "Basic " + base64.b64encode(both).decode()
        try:
            socket = self._connect(
                f"{'wss' if self._is_tls else 'ws'}://{address}/changes",
                additional_headers=headers,
                ssl=self._push.ssl_context if self._is_tls else None,
                open_timeout=_CONNECT_SECONDS,
                proxy=None,
            )
        except InvalidStatus as error:
            if error.response.status_code == _UNAUTHORIZED:
                raise ValueError("The node refuses the user or the password of Push.") from error
            raise
        message = {"type": "subscribe", "id": 1, "statement": self._select, "bytes": self._bound()}
        if self.position is not None:
            message["after"] = self.position
        socket.send(json.dumps(message))
        return socket

    def _bound(self) -> list[Optional[str]]:
        if self._bytes is None:
            prepared = self._session.prepare(self._select + " AFTER ? WITHIN ? MILLISECONDS")
            values = prepared.bind([*self._values, None, None]).values[: len(self._values)]
            self._bytes = [
                None if value is None else base64.b64encode(value).decode() for value in values
            ]
        return self._bytes

    def _events(self, socket: Any, seconds: float) -> list[Any]:
        """What the next message says. The other node may have said some of it before."""
        message = json.loads(socket.recv(timeout=seconds))
        kind = message["type"]
        if kind == "move":
            if socket is not self._socket:
                return self._events(socket, seconds)  # It moves already.
            return self._move(message["address"])
        if kind == "error":
            raise _error(message)
        self._opens = 0
        before = -1 if self.position is None else self.position
        position = message["position"]
        if position <= before:
            return []
        if kind == "lost":
            return [Lost(position)]
        changes = [Change(each) for each in message.get("timestamps", []) if each > before]
        return [*changes, _Position(position)]

    def _move(self, address: str) -> list[Any]:
        """The node before is left when the next one has answered after this position."""
        if self.position is None:
            return []  # From now on means another moment there.
        moved = None
        try:
            moved = self._subscribed(address)
            events = self._events(moved, _MOVE_SECONDS)
        except Exception:  # Whatever fails there is no reason to leave this node.
            if moved is not None:
                moved.close()
            return []
        self._socket.close()
        self._socket = moved
        return events


def _error(message: dict[str, Any]) -> IsoldeError:
    details = {
        "code": message["code"],
        "retryable": "true" if message.get("retryable") else "false",
        "outcome": "not_committed",
    }
    return make(message["message"], details)
