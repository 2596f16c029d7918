# SPDX-License-Identifier: Apache-2.0
"""Runs the examples as their READMEs say, each twice: they promise to be repeatable. And the demo.

``./isolde test python`` runs this, too. An example whose language is not installed is skipped, and so
is one whose packages can't be fetched.
"""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys
from typing import Any

import pytest

_EXAMPLES = pathlib.Path(__file__).resolve().parent
_MINUTES = 5 * 60


def _run(node: Any, folder: pathlib.Path, *command: str) -> str:
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "CASSANDRA": node.address, "GOFLAGS": "-mod=mod"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=_MINUTES,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def _copy(name: str, tmp_path: pathlib.Path) -> pathlib.Path:
    """What package managers add is not to stay in the examples."""
    return pathlib.Path(shutil.copytree(_EXAMPLES / name, tmp_path / name))


def _need(tool: str) -> str:
    found = shutil.which(tool)
    if found is None:
        pytest.skip(f"{tool} is not installed")
    return found


def _fetch(node: Any, folder: pathlib.Path, *command: str) -> None:
    try:
        _run(node, folder, *command)
    except AssertionError as error:
        pytest.skip(f"`{' '.join(command)}` could not fetch the packages: {error}")


def _assert_moves(node: Any, folder: pathlib.Path, *command: str) -> None:
    first = _run(node, folder, *command)
    second = _run(node, folder, *command)
    assert "Moved 30: account 1 has 70, account 2 has 30." in first
    assert "Moved 30: account 1 has 40, account 2 has 60." in second


def test_python(isolde_node: Any) -> None:
    _assert_moves(isolde_node, _EXAMPLES / "python", sys.executable, "transfer.py")


def test_python_watches(isolde_node: Any) -> None:
    for example, says in (
        ("cache.py", "5,000 prices, none of them old, with "),
        ("jobs.py", "30 jobs, each done once."),
    ):
        for _ in range(2):
            assert says in _run(isolde_node, _EXAMPLES / "python", sys.executable, example)


def test_go(isolde_node: Any, tmp_path: pathlib.Path) -> None:
    go = _need("go")
    folder = _copy("go", tmp_path)
    _fetch(isolde_node, folder, go, "mod", "download")
    _assert_moves(isolde_node, folder, go, "run", ".")
    _assert_moves(isolde_node, folder, go, "run", "./block")


def test_node(isolde_node: Any, tmp_path: pathlib.Path) -> None:
    node, npm = _need("node"), _need("npm")
    folder = _copy("node", tmp_path)
    _fetch(isolde_node, folder, npm, "install", "--no-audit", "--no-fund")
    _assert_moves(isolde_node, folder, node, "transfer.js")
    _assert_moves(isolde_node, folder, node, "block.js")


def test_rust(isolde_node: Any, tmp_path: pathlib.Path) -> None:
    cargo = _need("cargo")
    folder = _copy("rust", tmp_path)
    _fetch(isolde_node, folder, cargo, "fetch", "--locked")
    _assert_moves(isolde_node, folder, cargo, "run", "--quiet", "--locked")


def test_cqlsh(isolde_node: Any) -> None:
    cqlsh = shutil.which("cqlsh", path=os.path.dirname(sys.executable)) or _need("cqlsh")
    for _ in range(2):  # It starts anew each time.
        said = _run(
            isolde_node, _EXAMPLES / "cqlsh", cqlsh, "-f", "transfer.cql", isolde_node.address
        )
        assert "70" in said and "30" in said, said
        said = _run(
            isolde_node, _EXAMPLES / "cqlsh", cqlsh, "-f", "block.cql", isolde_node.address
        )
        assert "70" in said and "30" in said, said


def test_demo(tmp_path: pathlib.Path) -> None:
    demo = subprocess.run(
        [_EXAMPLES.parent / "isolde", "demo", "--seconds=2"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=_MINUTES,
    )
    assert demo.returncode == 0, demo.stdout
    assert "[holds]" in demo.stdout and "[BROKEN]" not in demo.stdout
