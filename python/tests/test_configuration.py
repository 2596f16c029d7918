# SPDX-License-Identifier: Apache-2.0
"""Reads of the configuration, by a session with prepared answers."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from fakes import refusal
from isolde import Isolde, IsoldeError
from isolde.errors import ErrorCode

HOST = UUID(int=1)
OTHER = UUID(int=2)


class FakeSession:
    """Has versions of nodes and groups; the last ones stay."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    def execute(self, statement: Any) -> Any:
        self.asked.append("groups" if "isolde.groups" in str(statement) else "ring")
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def node(version: int, state: str = "UP") -> tuple[Any, ...]:
    return (HOST, "10.0.0.1", "10.0.0.1:9042", "dc1", "r1", state, 1, version)


def group(version: int, leader: UUID = HOST) -> tuple[Any, ...]:
    return (OTHER, "bank", 0, ["(1, 2]"], ["10.0.0.1"], leader, 3, "LED", 2, version)


def read(*answers: Any) -> Any:
    return Isolde(FakeSession(*answers)).configuration()


def test_when_both_tables_are_of_one_version_then_that_is_the_answer() -> None:
    found = read([group(7)], [node(7)])
    assert found.version == 7
    assert found.nodes[0].is_up
    assert found.groups_of("bank") == [found.groups[0]]
    assert found.leader_of(found.groups[0]) == found.nodes[0]
    assert found.groups[0].ranges == ("(1, 2]",)


def test_when_it_changes_between_the_tables_then_both_are_read_again() -> None:
    found = read([group(7)], [node(8)], [group(8, OTHER)], [node(8)])
    assert found.version == 8
    assert found.leader_of(found.groups[0]) is None


def test_when_there_are_no_groups_then_a_group_that_has_come_meanwhile_is_not_missed() -> None:
    found = read([], [node(7)], [group(8)], [group(8)], [node(8, "DOWN")])
    assert found.version == 8
    assert len(found.groups) == 1
    assert not found.nodes[0].is_up
    assert read([], [node(7)], []).groups == ()


def test_when_it_never_rests_then_that_is_an_error() -> None:
    with pytest.raises(IsoldeError) as caught:
        read(*[rows for n in range(20) for rows in ([group(n)], [node(n + 1)])])

    assert caught.value.code is ErrorCode.ORACLE_OVERLOADED
    assert caught.value.is_safe_to_run_again


def test_when_there_are_groups_and_no_nodes_then_it_is_read_again() -> None:
    found = read([group(7)], [], [group(8)], [node(8)])
    assert found.version == 8


def test_when_the_oracle_does_not_answer_then_the_error_has_its_code() -> None:
    with pytest.raises(IsoldeError) as caught:
        read(refusal("ORACLE_UNAVAILABLE", True, "not_committed"))
    assert caught.value.code is ErrorCode.ORACLE_UNAVAILABLE
