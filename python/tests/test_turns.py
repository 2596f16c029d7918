# SPDX-License-Identifier: Apache-2.0
"""Who waits for whom after a conflict."""

from __future__ import annotations

import threading

import isolde
from fakes import FakeRequests, conflict
from isolde import Transaction
from isolde._turns import MAX_ROWS, Turns, turns_of


def test_when_another_has_the_turn_then_it_is_waited_for() -> None:
    turns = Turns()
    events: list[str] = []

    def second() -> None:
        with turns.turn("a", 60):
            events.append("second")

    with turns.turn("a", 60):
        thread = threading.Thread(target=second)
        thread.start()
        with turns.turn("b", 60):
            events.append("another row")
        thread.join(0.05)
        events.append("first")
    thread.join()
    assert events == ["another row", "first", "second"]
    assert not turns._rows


def test_when_the_time_is_over_then_nobody_waits_any_more() -> None:
    turns = Turns()
    with turns.turn("a", 60), turns.turn("a", 0.01), turns.turn("a", -1):
        pass
    assert not turns._rows


def test_when_there_was_no_conflict_or_too_many_rows_have_turns_then_nobody_waits() -> None:
    turns = Turns()
    for row in range(MAX_ROWS):
        turns._join(f"row {row}")
    with turns.turn(None, 60), turns.turn("one more", 60), turns.turn("one more", 60):
        assert len(turns._rows) == MAX_ROWS


def test_when_a_function_runs_again_then_it_has_the_turn_of_the_row(
    db: isolde.Isolde, nodes: FakeRequests
) -> None:
    nodes.failing("COMMIT", conflict())
    turns: list[list[str]] = []

    def function(tx: Transaction) -> None:
        tx.execute("UPDATE t SET v = 1 WHERE k = 1")
        turns.append(list(db._turns._rows))

    db.run(function)
    assert turns == [[], ["bank.accounts a b"]]
    assert not db._turns._rows


def test_when_a_session_is_used_twice_then_the_turns_are_the_same() -> None:
    class Session:
        pass

    session = Session()
    assert turns_of(session) is turns_of(session)
    assert turns_of(session) is not turns_of(Session())
