# SPDX-License-Identifier: Apache-2.0
"""Requests saved: START with the first statement, writes held back, COMMIT with the last of them.

Against nodes that answer, and fail, as they are told.
"""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest
from cassandra import InvalidRequest
from cassandra.cluster import NoHostAvailable
from cassandra.pool import NoConnectionsAvailable
from cassandra.protocol import SyntaxException
from cassandra.query import BatchStatement, SimpleStatement

import isolde
from fakes import FakeRequests, conflict, not_found, refusal, timeout
from isolde import ErrorCode, Transaction, TransactionOptions
from isolde._held import MAX_BYTES, MAX_STATEMENTS
from isolde._requests import START_KEY

SELECT = "SELECT v FROM t WHERE k = 1"
UPDATE = "UPDATE t SET v = 1 WHERE k = 1"
SHORT = TransactionOptions(time_limit_seconds=0.2, backoff_cap_seconds=0.01)
ONCE = TransactionOptions(time_limit_seconds=0.2, backoff_cap_seconds=0.01, max_attempts=1)


def transfer(tx: Transaction) -> None:
    tx.execute(SELECT)
    tx.execute(SELECT)
    tx.write(UPDATE)
    tx.write(UPDATE)


def test_when_the_last_statements_are_writes_then_they_go_with_commit(
    db: isolde.Isolde, nodes: FakeRequests
) -> None:
    db.run(transfer)
    assert nodes.transcript == ["START+SELECT", "SELECT", "BATCH+COMMIT"]
    assert nodes.batches == [[UPDATE, UPDATE]]


def test_when_a_statement_follows_then_the_writes_before_it_are_sent_first(
    db: isolde.Isolde, nodes: FakeRequests
) -> None:
    with db.transaction() as tx:
        tx.write("UPDATE t SET v = %s WHERE k = %s", (5, "it's"))
        tx.write(SimpleStatement("DELETE FROM t WHERE k = 7"))
        tx.execute(SELECT)
        tx.write(UPDATE)
        tx.execute_async(SELECT)
    assert nodes.transcript == ["START+BATCH", "SELECT", "BATCH", "SELECT", "COMMIT"]
    assert nodes.batches[0] == ["UPDATE t SET v = 5 WHERE k = 'it''s'", "DELETE FROM t WHERE k = 7"]


def test_when_there_are_only_writes_then_start_is_sent_before_them(
    db: isolde.Isolde, nodes: FakeRequests
) -> None:
    db.run(lambda tx: tx.write(UPDATE))
    assert nodes.transcript == ["START", "BATCH+COMMIT"]
    assert nodes.hosts == [None, "node-1"]


def test_when_nothing_is_executed_then_it_starts_and_commits_all_the_same(
    db: isolde.Isolde, nodes: FakeRequests
) -> None:
    with db.transaction() as tx:
        result = tx.commit()
    assert nodes.transcript == ["START", "COMMIT"]
    assert result.committed


def test_when_it_is_rolled_back_then_held_writes_are_forgotten(
    db: isolde.Isolde, nodes: FakeRequests
) -> None:
    with db.transaction() as tx:
        tx.write(UPDATE)
        tx.rollback()
    with pytest.raises(RuntimeError, match="rolled back"):
        tx.write(UPDATE)
    assert nodes.transcript == []


def test_when_too_many_writes_are_held_then_they_are_sent_at_once(
    db: isolde.Isolde, nodes: FakeRequests
) -> None:
    def many(tx: Transaction) -> None:
        for _ in range(MAX_STATEMENTS + 1):
            tx.write(UPDATE)

    db.run(many)
    assert nodes.transcript == ["START+BATCH", "BATCH+COMMIT"]
    assert [len(batch) for batch in nodes.batches] == [MAX_STATEMENTS, 1]


def test_when_held_writes_are_too_big_then_they_are_sent_at_once(
    db: isolde.Isolde, nodes: FakeRequests
) -> None:
    def big(tx: Transaction) -> None:
        tx.write(UPDATE)
        tx.write("UPDATE t SET v = %s WHERE k = 1", ("x" * MAX_BYTES,))
        assert nodes.transcript == ["START+BATCH"]

    db.run(big)
    assert nodes.transcript == ["START+BATCH", "COMMIT"]


def test_when_a_statement_cannot_be_held_then_it_is_refused(
    db: isolde.Isolde, nodes: FakeRequests
) -> None:
    with db.transaction() as tx:
        with pytest.raises(TypeError, match="not a BatchStatement: use execute"):
            tx.write(BatchStatement())
        with pytest.raises(ValueError, match="keyspace of its own"):
            tx.write(SimpleStatement(UPDATE, keyspace="other"))
        with pytest.raises(TypeError):
            tx.write("UPDATE t SET v = %s WHERE k = %s", (1,))
    assert nodes.transcript == ["START", "COMMIT"]


def test_when_a_held_write_fails_then_commit_raises_it_too_and_sends_nothing(
    db: isolde.Isolde, nodes: FakeRequests
) -> None:
    nodes.failing("BATCH", refusal("NOT_TRANSACTIONAL", False, "not_committed"))
    with pytest.raises(isolde.NotCommittedError) as raised:
        with db.transaction() as tx:
            tx.execute(SELECT)
            tx.write(UPDATE)
            with pytest.raises(isolde.NotCommittedError) as first:
                tx.execute(SELECT)
    assert raised.value is first.value
    assert raised.value.code is ErrorCode.NOT_TRANSACTIONAL
    assert nodes.transcript == ["START+SELECT", "BATCH", "ROLLBACK"]


def test_when_a_held_write_conflicts_and_nobody_cares_then_the_function_runs_again(
    db: isolde.Isolde, nodes: FakeRequests
) -> None:
    nodes.failing("BATCH", conflict())

    def careless(tx: Transaction) -> None:
        tx.write(UPDATE)
        try:
            tx.execute(SELECT)
        except isolde.ConflictError:
            pass

    db.run(careless)
    again = ["START+BATCH", "SELECT", "COMMIT"]
    assert nodes.transcript == ["START+BATCH", "ROLLBACK", *again]


def test_when_the_last_writes_are_wrong_in_themselves_then_it_is_rolled_back(
    db: isolde.Isolde, nodes: FakeRequests
) -> None:
    nodes.failing("BATCH+COMMIT", SyntaxException(0x2000, "no viable alternative", None))
    with pytest.raises(SyntaxException):
        db.run(transfer)
    assert nodes.transcript[2:] == ["BATCH+COMMIT", "ROLLBACK"]


def test_when_the_last_writes_conflict_then_the_function_runs_again(
    db: isolde.Isolde, nodes: FakeRequests
) -> None:
    nodes.failing("BATCH+COMMIT", conflict())
    db.run(transfer)
    assert nodes.transcript == ["START+SELECT", "SELECT", "BATCH+COMMIT"] * 2


def test_when_the_answer_is_lost_then_the_same_writes_go_to_the_holder_and_commit_elsewhere(
    db: isolde.Isolde, nodes: FakeRequests
) -> None:
    nodes.failing("BATCH+COMMIT", timeout(), timeout())
    nodes.failing("COMMIT", not_found())
    db.run(transfer)
    assert nodes.transcript[2:] == ["BATCH+COMMIT", "COMMIT", "BATCH+COMMIT", "COMMIT"]
    assert nodes.hosts[2:] == ["node-1", "node-2"] * 2
    assert nodes.batches == [[UPDATE, UPDATE]] * 2


def test_when_nobody_knows_then_the_holder_settles_with_the_writes_and_others_without(
    db: isolde.Isolde, nodes: FakeRequests
) -> None:
    nodes.failing("BATCH+COMMIT", *[timeout() for _ in range(500)])
    nodes.failing("COMMIT", *[not_found() for _ in range(500)])
    nodes.failing("BATCH+SETTLE", timeout(), timeout())
    nodes.failing("SETTLE", timeout(), conflict())
    with pytest.raises(isolde.ConflictError):
        db.run(transfer, ONCE)
    sent = dict(zip(nodes.transcript[2:], nodes.hosts[2:]))
    assert sent == {
        "BATCH+COMMIT": "node-1",
        "COMMIT": "node-2",
        "BATCH+SETTLE": "node-1",
        "SETTLE": "node-2",
    }


def test_when_repeated_writes_are_refused_then_that_says_nothing_of_the_first_time(
    db: isolde.Isolde, nodes: FakeRequests
) -> None:
    nodes.failing("BATCH+COMMIT", timeout(), refusal("NOT_TRANSACTIONAL", False, "not_committed"))
    nodes.failing("COMMIT", not_found())
    db.run(transfer)
    assert nodes.transcript[2:] == ["BATCH+COMMIT", "COMMIT"] * 2


def test_when_the_outcome_is_unknown_then_commit_sends_the_writes_again(
    db: isolde.Isolde, nodes: FakeRequests
) -> None:
    for word in ("BATCH+COMMIT", "BATCH+SETTLE", "COMMIT", "SETTLE"):
        nodes.failing(word, *[timeout() for _ in range(500)])
    tx = db.transaction(SHORT)
    transfer(tx)
    with pytest.raises(isolde.OutcomeUnknownError):
        tx.commit()
    with pytest.raises(RuntimeError, match="unknown outcome"):
        tx.execute(SELECT)
    nodes._failures.clear()
    assert tx.commit().committed
    assert nodes.transcript[-1] == "BATCH+COMMIT"
    assert nodes.batches[-1] == [UPDATE, UPDATE]


def test_when_a_reader_writes_then_the_node_refuses_it(
    db: isolde.Isolde, nodes: FakeRequests
) -> None:
    nodes.failing("BATCH", refusal("READ_ONLY_TRANSACTION", False, "not_committed"))
    with pytest.raises(isolde.NotCommittedError):
        db.run(lambda tx: tx.write(UPDATE), TransactionOptions.reading())
    assert nodes.transcript == ["START+BATCH", "ROLLBACK"]


def test_when_the_start_timestamp_is_asked_for_first_then_the_transaction_starts(
    db: isolde.Isolde, nodes: FakeRequests
) -> None:
    with db.transaction() as tx:
        assert tx.start_timestamp == 7
        assert nodes.transcript == ["START"]
        tx.execute(SELECT)
        assert tx.start_timestamp == 7
    assert nodes.transcript == ["START", "SELECT", "COMMIT"]


def test_when_it_ended_before_it_started_then_it_has_no_start_timestamp(
    db: isolde.Isolde, nodes: FakeRequests
) -> None:
    with db.transaction() as tx:
        tx.rollback()
        with pytest.raises(RuntimeError, match="rolled back"):
            assert tx.start_timestamp
    assert nodes.transcript == []


def test_when_the_first_answer_does_not_tell_then_start_is_sent_to_the_same_node(
    db: isolde.Isolde, nodes: FakeRequests
) -> None:
    nodes.warns = True
    with db.transaction() as tx:
        tx.execute(SELECT)
        assert tx.start_timestamp == 7
    assert nodes.transcript == ["START+SELECT", "START", "COMMIT"]
    assert nodes.hosts == ["node-1"] * 3


def test_when_it_was_not_told_for_long_then_it_is_not_started_again(
    db: isolde.Isolde, nodes: FakeRequests, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = sys.modules["isolde.transaction"]  # The package has a function of that name.
    monkeypatch.setattr(module, "_START_MAY_BE_REPEATED_SECONDS", -1)
    nodes.warns = True
    with pytest.raises(isolde.NotCommittedError) as raised:
        with db.transaction() as tx:
            tx.execute_async(SELECT)
            tx.execute(SELECT)
    assert raised.value.is_safe_to_run_again
    assert nodes.transcript == ["START+SELECT", "ROLLBACK"]


def test_when_the_first_statement_is_refused_then_start_is_sent_before_the_next(
    db: isolde.Isolde, nodes: FakeRequests
) -> None:
    nodes.failing("SELECT", InvalidRequest("no such column"))
    with db.transaction() as tx:
        with pytest.raises(InvalidRequest):
            tx.execute(SELECT)
        tx.execute(UPDATE)
    assert nodes.transcript == ["START+SELECT", "START", "UPDATE", "COMMIT"]
    assert nodes.hosts == ["node-1"] * 4


def test_when_the_first_statement_gets_no_answer_then_nothing_follows(
    db: isolde.Isolde, nodes: FakeRequests
) -> None:
    nodes.failing("SELECT", timeout())
    with pytest.raises(isolde.NotCommittedError) as raised:
        with db.transaction() as tx:
            for _ in range(2):
                with pytest.raises(isolde.NotCommittedError):
                    tx.execute(SELECT)
    assert raised.value.code is ErrorCode.REQUEST_FAILED
    assert nodes.transcript == ["START+SELECT", "ROLLBACK"]


def test_when_the_first_statement_has_pages_then_they_do_not_start_it_again(
    db: isolde.Isolde, nodes: FakeRequests
) -> None:
    with db.transaction() as tx:
        rows = tx.execute(SELECT)
        assert START_KEY not in rows.response_future.message.custom_payload


class FakeSession:
    """Two nodes, of which those named take requests."""

    keyspace = None

    def __init__(self, takes: set[str]) -> None:
        self._takes = takes
        policy = SimpleNamespace(make_query_plan=lambda keyspace, query: ["node-1", "node-2"])
        self._profile = SimpleNamespace(load_balancing_policy=policy)

    def get_execution_profile(self, name: object) -> Any:
        return self._profile

    def execute_async(self, statement: Any, parameters: Any, **options: Any) -> Any:
        def result() -> None:
            raise NoHostAvailable("no", {options["host"]: NoConnectionsAvailable()})

        hosts = [options["host"]] if options["host"] in self._takes else []
        return SimpleNamespace(
            attempted_hosts=hosts, result=result, add_callback=lambda callback: None
        )


def test_when_the_first_statement_continues_a_result_then_start_is_sent_before_it(
    db: isolde.Isolde, nodes: FakeRequests
) -> None:
    db.run(lambda tx: tx.execute(SELECT, paging_state=b"x"))
    assert nodes.transcript == ["START", "SELECT", "COMMIT"]


def test_when_a_node_takes_no_requests_then_another_holds_the_transaction() -> None:
    tx = isolde.Isolde(FakeSession({"node-2"})).transaction()
    tx.execute_async(SELECT)
    assert tx._host == "node-2"


def test_when_no_node_takes_requests_then_the_error_tells_of_all() -> None:
    tx = isolde.Isolde(FakeSession(set())).transaction()
    with pytest.raises(isolde.NotCommittedError) as raised:
        tx.execute(SELECT)
    assert raised.value.is_safe_to_run_again
    assert isinstance(raised.value.__cause__, NoHostAvailable)
    assert set(raised.value.__cause__.errors) == {"node-1", "node-2"}


@pytest.mark.parametrize(
    "text",
    [
        "INSERT INTO t (k) VALUES (1) IF NOT EXISTS",
        "UPDATE t SET v = 'it''s' WHERE k = 1 if v = 'x'",
    ],
)
def test_when_a_write_has_a_condition_then_it_is_not_held(
    db: isolde.Isolde, nodes: FakeRequests, text: str
) -> None:
    with db.transaction() as tx:
        with pytest.raises(ValueError, match="with IF"):
            tx.write(text)
        tx.write("UPDATE t SET v = 'only if it''s quoted' WHERE k = 1")
    assert nodes.transcript == ["START", "BATCH+COMMIT"]
