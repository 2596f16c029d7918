# SPDX-License-Identifier: Apache-2.0
"""Fixtures that give tests a real Cassandra node with Isolde.

``isolde_session`` is a session of the driver in a keyspace that one test module alone has. The node
starts with the first test that asks for it, takes 10 to 60 seconds for that, and ends with pytest,
however that ends. It comes from a folder in which Isolde was built: ``--isolde-home``, or
``ISOLDE_HOME``. Or there is a node already: ``--isolde-node 127.0.0.1:9042``.
"""

from __future__ import annotations

import os
import pathlib
import subprocess
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Iterator

import pytest

if TYPE_CHECKING:
    from cassandra.cluster import Cluster, Session

_START_SECONDS = 240
_STOP_SECONDS = 60
_LOG_CHARACTERS = 4000


@dataclass(frozen=True)
class IsoldeNode:
    """Where CQL clients connect."""

    address: str
    port: int

    @staticmethod
    def parse(text: str) -> IsoldeNode:
        address, _, port = text.partition(":")
        return IsoldeNode(address, int(port or 9042))

    def connect(self) -> Cluster:
        """A cluster object of the driver, patient enough for a busy test machine."""
        from cassandra.cluster import EXEC_PROFILE_DEFAULT, ExecutionProfile, Cluster
        from cassandra.policies import RoundRobinPolicy

        profile = ExecutionProfile(load_balancing_policy=RoundRobinPolicy(), request_timeout=30)
        return Cluster(
            [self.address],
            port=self.port,
            execution_profiles={EXEC_PROFILE_DEFAULT: profile},
            connect_timeout=30,
            control_connection_timeout=30,
        )


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("isolde", "a Cassandra node with Isolde for tests")
    group.addoption(
        "--isolde-home",
        metavar="FOLDER",
        help="A folder in which Isolde was built, to start a node from. Default: ISOLDE_HOME.",
    )
    group.addoption(
        "--isolde-node",
        metavar="ADDRESS[:PORT]",
        help="A node that is running, to be used instead of starting one.",
    )


@pytest.fixture(scope="session")
def isolde_node(
    pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[IsoldeNode]:
    """A node that all tests of the run share."""
    running = pytestconfig.getoption("--isolde-node")
    if running:
        yield IsoldeNode.parse(running)
        return
    script = _script(pytestconfig.getoption("--isolde-home") or os.environ.get("ISOLDE_HOME"))
    folder = tmp_path_factory.mktemp("isolde")
    node = IsoldeNode(_address(os.getpid()), 9042)
    # Removes the node when its input ends, which happens however this process ends.
    guard = subprocess.Popen(
        ["sh", "-c", 'read _; exec "$0" cluster remove --home "$1" pytest', script, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        _start(script, folder, node)
        yield node
    finally:
        assert guard.stdin is not None
        guard.stdin.close()
        guard.wait(_STOP_SECONDS)


@pytest.fixture(scope="session")
def isolde_cluster(isolde_node: IsoldeNode) -> Iterator[Cluster]:
    """The driver's cluster object for that node."""
    cluster = isolde_node.connect()
    try:
        yield cluster
    finally:
        cluster.shutdown()


@pytest.fixture(scope="module")
def isolde_session(isolde_cluster: Any) -> Iterator[Session]:
    """A session in a fresh keyspace."""
    session = isolde_cluster.connect()
    keyspace = f"pytest_{uuid.uuid4().hex}"
    replication = "{'class': 'SimpleStrategy', 'replication_factor': 1}"
    session.execute(f"CREATE KEYSPACE {keyspace} WITH replication = {replication}")
    session.set_keyspace(keyspace)
    try:
        yield session
    finally:
        session.execute(f"DROP KEYSPACE {keyspace}")
        session.shutdown()


def _script(home: object) -> str:
    if not home:
        pytest.fail(
            "There is no node to test with. Say where Isolde was built (--isolde-home FOLDER, or "
            "ISOLDE_HOME), or name a running node (--isolde-node ADDRESS:PORT).",
            pytrace=False,
        )
    script = pathlib.Path(str(home)).resolve() / "isolde"
    if not script.is_file():
        pytest.fail(f"There is no {script}: {home} is not a folder of Isolde.", pytrace=False)
    return str(script)


def _start(script: str, folder: pathlib.Path, node: IsoldeNode) -> None:
    command = [script, "cluster", "create", "--home", str(folder), "pytest"]
    command += ["--nodes", "1", "--address", node.address, "--start"]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=_START_SECONDS,
        )
    except subprocess.TimeoutExpired:
        pytest.fail(f"No node was running {_START_SECONDS} s after `{' '.join(command)}`.", False)
    if done.returncode != 0:
        said = done.stdout[-_LOG_CHARACTERS:]
        pytest.fail(f"The node can't be started. `{' '.join(command)}` said:\n{said}", False)


def _address(pid: int) -> str:
    """A loopback address of its own, so that runs at the same time do not meet.

    Only 127.0.0.1 exists on macOS unless more are configured.
    """
    if not pathlib.Path("/proc").is_dir():
        return "127.0.0.1"
    return f"127.63.{pid // 254 % 256}.{1 + pid % 254}"
