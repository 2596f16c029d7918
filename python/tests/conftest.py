# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import itertools
import os
import pathlib
import subprocess
from typing import Any, Callable, Iterator

import pytest

import isolde
from fakes import FakeRequests

_TABLES = itertools.count(1)

# The node comes from the checkout that these tests are in.
os.environ.setdefault("ISOLDE_HOME", str(pathlib.Path(__file__).resolve().parents[2]))


class Trio:
    """Three nodes, with ports for pushing."""

    FIRST = "127.0.40.1"
    _MAX_SECONDS = 240

    def __init__(self, home: pathlib.Path) -> None:
        self._home = home

    def run(self, verb: str, *arguments: str) -> None:
        """Runs ``isolde cluster``."""
        subprocess.run(
            [self._script(), "cluster", verb, "trio", "--home", str(self._home), *arguments],
            check=True,
            timeout=self._MAX_SECONDS,
        )

    def ring(self, *arguments: str) -> list[str]:
        """The lines of ``isolde ring``."""
        done = subprocess.run(
            [self._script(), "ring", "--at", Trio.FIRST, *arguments],
            check=True,
            timeout=self._MAX_SECONDS,
            stdout=subprocess.PIPE,
            text=True,
        )
        return done.stdout.splitlines()

    @staticmethod
    def _script() -> str:
        return str(pathlib.Path(os.environ["ISOLDE_HOME"]) / "isolde")


@pytest.fixture(scope="session")
def trio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trio]:
    trio = Trio(tmp_path_factory.mktemp("trio"))
    trio.run("create", "--nodes", "3", "--address", Trio.FIRST, "--isolde", "push_port=7314")
    try:
        trio.run("start")
        yield trio
    finally:
        trio.run("remove")


@pytest.fixture
def nodes() -> FakeRequests:
    return FakeRequests()


class NoSession:
    """Nothing is sent to it."""


@pytest.fixture
def db(nodes: FakeRequests) -> isolde.Isolde:
    db = isolde.Isolde(NoSession())
    db._requests = nodes
    return db


@pytest.fixture
def accounts(isolde_session: Any) -> str:
    """A transactional table with accounts 1 to 4, 100 in each."""
    table = f"accounts{next(_TABLES)}"
    isolde_session.execute(f"CREATE TABLE {table} (id int PRIMARY KEY, balance int)")
    isolde_session.execute(f"ENABLE TRANSACTIONS ON {table}")
    for number in range(1, 5):
        isolde_session.execute(f"INSERT INTO {table} (id, balance) VALUES ({number}, 100)")
    return table


@pytest.fixture
def grid(isolde_session: Any) -> str:
    """A transactional table without rows, with a partition key of two columns."""
    table = f"grid{next(_TABLES)}"
    isolde_session.execute(f"CREATE TABLE {table} (a int, b int, v int, PRIMARY KEY ((a, b)))")
    isolde_session.execute(f"ENABLE TRANSACTIONS ON {table}")
    return table


@pytest.fixture
def balances(isolde_session: Any, accounts: str) -> Callable[[], dict[int, int]]:
    def read() -> dict[int, int]:
        rows = isolde_session.execute(f"SELECT id, balance FROM {accounts}")
        return {row.id: row.balance for row in rows}

    return read
