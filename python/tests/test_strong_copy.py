# SPDX-License-Identifier: Apache-2.0
"""cqlsh's COPY with a strong keyspace, of which the driver alone does not know the replicas."""

from __future__ import annotations

import pathlib
import subprocess
import sys
from typing import Any, Iterator

import pytest

_ROWS = 300
_SECONDS = 120
_KEYSPACE = "strong_copy"


@pytest.fixture
def strong_table(isolde_cluster: Any) -> Iterator[Any]:
    session = isolde_cluster.connect()
    session.execute(f"DROP KEYSPACE IF EXISTS {_KEYSPACE}")
    session.execute(
        f"CREATE KEYSPACE {_KEYSPACE} WITH replication ="
        " {'class': 'ReplicatedLogStrategy', 'replication_factor': 1, 'groups': 2}"
    )
    session.execute(f"CREATE TABLE {_KEYSPACE}.t (id int PRIMARY KEY, v text)")
    try:
        yield session
    finally:
        session.execute(f"DROP KEYSPACE {_KEYSPACE}")
        session.shutdown()


def _cqlsh(module: str, node: Any, statement: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", module, "-e", statement, node.address, str(node.port)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=_SECONDS,
    )
    return done.stdout


def test_when_rows_are_copied_from_a_file_then_all_of_them_are_there(
    isolde_node: Any, strong_table: Any, tmp_path: pathlib.Path
) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("".join(f"{number},text {number}\n" for number in range(_ROWS)))
    copy = f"COPY {_KEYSPACE}.t (id, v) FROM '{rows}' WITH MAXBATCHSIZE = 1"
    said = _cqlsh("isolde.cqlsh", isolde_node, copy)
    assert f"{_ROWS} rows imported" in said, said
    found = strong_table.execute(f"SELECT id, v FROM {_KEYSPACE}.t")
    assert {row.id: row.v for row in found} == {n: f"text {n}" for n in range(_ROWS)}

    back = tmp_path / "back.csv"
    said = _cqlsh("isolde.cqlsh", isolde_node, f"COPY {_KEYSPACE}.t (id, v) TO '{back}'")
    assert f"{_ROWS} rows exported" in said, said
    assert sorted(back.read_text().split()) == sorted(rows.read_text().split())
