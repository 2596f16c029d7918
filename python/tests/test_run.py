# SPDX-License-Identifier: Apache-2.0
"""Retries and outcomes, against nodes that fail as they are told."""

from __future__ import annotations

import pickle

import pytest
from cassandra import InvalidRequest, ReadFailure
from cassandra.protocol import OverloadedErrorMessage, SyntaxException

import isolde
from fakes import FakeRequests, conflict, not_found, refusal, timeout
from isolde import ErrorCode, Outcome, Transaction, TransactionOptions

UPDATE = "UPDATE t SET v = 1 WHERE k = 1"
SHORT = TransactionOptions(time_limit_seconds=0.2, backoff_cap_seconds=0.01)


def update(tx: Transaction) -> str:
    tx.execute(UPDATE)
    return "done"


def test_when_all_goes_well_then_the_function_runs_once(
    db: isolde.Isolde, nodes: FakeRequests
) -> None:
    assert db.run(update) == "done"
    assert nodes.transcript == ["START+UPDATE", "COMMIT"]


def test_when_commit_conflicts_then_the_function_runs_again(
    db: isolde.Isolde, nodes: FakeRequests
) -> None:
    nodes.failing("COMMIT", conflict())
    db.run(update)
    assert nodes.transcript == ["START+UPDATE", "COMMIT"] * 2


def test_when_a_statement_conflicts_then_it_is_rolled_back_and_run_again(
    db: isolde.Isolde, nodes: FakeRequests
) -> None:
    nodes.failing("UPDATE", conflict())
    db.run(update)
    assert nodes.transcript == ["START+UPDATE", "ROLLBACK", "START+UPDATE", "COMMIT"]


def test_when_the_application_wraps_a_conflict_then_it_is_found_among_the_causes(
    db: isolde.Isolde, nodes: FakeRequests
) -> None:
    nodes.failing("UPDATE", conflict())

    def wrapping(tx: Transaction) -> None:
        try:
            update(tx)
        except isolde.IsoldeError as error:
            raise LookupError("the mapper failed") from error

    db.run(wrapping)
    assert nodes.transcript.count("START+UPDATE") == 2


def test_when_attempts_are_over_then_the_error_tells_how_many(
    db: isolde.Isolde, nodes: FakeRequests
) -> None:
    nodes.failing("COMMIT", *[conflict() for _ in range(3)])
    with pytest.raises(isolde.ConflictError) as raised:
        db.run(update, TransactionOptions(max_attempts=3))
    assert raised.value.details["attempts"] == "3"
    assert raised.value.details["key"] == "a b"
    assert raised.value.code is ErrorCode.CONFLICT


def test_when_the_function_raises_then_it_is_rolled_back_and_raised(
    db: isolde.Isolde, nodes: FakeRequests
) -> None:
    def fails(tx: Transaction) -> None:
        raise KeyError("no such account")

    with pytest.raises(KeyError):
        db.run(fails)
    assert nodes.transcript == []


def test_when_the_answer_of_commit_is_lost_then_another_node_is_asked(
    db: isolde.Isolde, nodes: FakeRequests
) -> None:
    nodes.failing("COMMIT", timeout(), not_found(), timeout())
    db.run(update)
    assert nodes.transcript == ["START+UPDATE"] + ["COMMIT"] * 4
    assert nodes.hosts[1:] == ["node-1", "node-2", "node-1", "node-2"]


def test_when_nobody_knows_then_it_is_settled_and_run_again(
    db: isolde.Isolde, nodes: FakeRequests
) -> None:
    nodes.failing("COMMIT", timeout(), *[not_found() for _ in range(500)])
    nodes.failing("SETTLE", conflict())
    with pytest.raises(isolde.IsoldeError):
        db.run(update, TransactionOptions(time_limit_seconds=0.1, max_attempts=1))
    assert nodes.transcript[-1] == "SETTLE"


def test_when_the_outcome_stays_unknown_then_it_is_not_run_again(
    db: isolde.Isolde, nodes: FakeRequests
) -> None:
    nodes.failing("COMMIT", timeout(), *[not_found() for _ in range(500)])
    nodes.failing("SETTLE", *[not_found() for _ in range(500)])
    with pytest.raises(isolde.OutcomeUnknownError) as raised:
        db.run(update, SHORT)
    assert raised.value.code is ErrorCode.OUTCOME_UNKNOWN
    assert nodes.transcript.count("START+UPDATE") == 1


def test_when_the_oracle_cannot_be_asked_about_a_lost_commit_then_it_is_not_run_again(
    db: isolde.Isolde, nodes: FakeRequests
) -> None:
    no_answer = [refusal("ORACLE_UNAVAILABLE", True, "not_committed") for _ in range(500)]
    nodes.failing("COMMIT", timeout(), *no_answer)
    nodes.failing("SETTLE", *no_answer)
    with pytest.raises(isolde.OutcomeUnknownError):
        db.run(update, SHORT)
    assert nodes.transcript.count("START+UPDATE") == 1


def test_when_it_is_committed_but_pending_then_it_is_never_called_anything_else(
    db: isolde.Isolde, nodes: FakeRequests
) -> None:
    nodes.failing("COMMIT", refusal("APPLY_PENDING", False, "committed"))
    nodes.failing("COMMIT", *[timeout() for _ in range(500)])
    nodes.failing("SETTLE", *[timeout() for _ in range(500)])
    with pytest.raises(isolde.CommitPendingError) as raised:
        db.run(update, SHORT)
    assert raised.value.outcome is Outcome.COMMITTED


def test_when_the_node_forgot_before_commit_then_the_function_runs_again(
    db: isolde.Isolde, nodes: FakeRequests
) -> None:
    nodes.failing("UPDATE", not_found())
    nodes.failing("COMMIT", not_found())
    db.run(update)
    assert nodes.transcript.count("START+UPDATE") == 3


def test_when_a_request_before_commit_gets_no_answer_then_commit_is_not_sent(
    db: isolde.Isolde, nodes: FakeRequests
) -> None:
    nodes.failing("UPDATE", timeout())

    def careless(tx: Transaction) -> None:
        try:
            update(tx)
        except isolde.NotCommittedError as error:
            assert error.code is ErrorCode.REQUEST_FAILED

    db.run(careless)
    assert nodes.transcript == ["START+UPDATE", "ROLLBACK", "START+UPDATE", "COMMIT"]


def test_when_the_commit_of_a_reader_is_lost_then_it_runs_again(
    db: isolde.Isolde, nodes: FakeRequests
) -> None:
    nodes.failing("COMMIT", timeout())
    db.run(lambda tx: tx.execute("SELECT 1"), TransactionOptions.reading())
    assert nodes.transcript.count("START+SELECT") == 2


def test_when_a_statement_is_wrong_in_itself_then_the_drivers_error_is_raised(
    db: isolde.Isolde, nodes: FakeRequests
) -> None:
    wrong = SyntaxException(0x2000, "no viable alternative", None)
    nodes.failing("UPDATE", wrong)
    with pytest.raises(SyntaxException):
        db.run(update)


def test_when_a_read_fails_for_what_is_stored_then_it_is_not_run_again(
    db: isolde.Isolde, nodes: FakeRequests
) -> None:
    nodes.failing("UPDATE", ReadFailure("READ_TOO_MANY_TOMBSTONES"))
    with pytest.raises(ReadFailure):
        db.run(update)
    assert nodes.transcript.count("START+UPDATE") == 1


def test_when_a_node_is_overloaded_then_it_is_run_again(
    db: isolde.Isolde, nodes: FakeRequests
) -> None:
    nodes.failing("UPDATE", OverloadedErrorMessage(0x1001, "too many requests", None))
    db.run(update)
    assert nodes.transcript.count("COMMIT") == 1


def test_when_another_transaction_conflicts_for_good_inside_then_the_outer_one_is_not_run_again(
    db: isolde.Isolde, nodes: FakeRequests
) -> None:
    nodes.failing("COMMIT", conflict())
    with pytest.raises(isolde.ConflictError):
        db.run(lambda tx: db.run(update, TransactionOptions(max_attempts=1)))
    assert nodes.transcript == ["START+UPDATE", "COMMIT"]


def test_when_a_block_ends_then_it_commits_and_when_it_raises_then_not(
    db: isolde.Isolde, nodes: FakeRequests
) -> None:
    with db.transaction() as tx:
        update(tx)
    with pytest.raises(ZeroDivisionError):
        with db.transaction():
            raise ZeroDivisionError
    assert nodes.transcript == ["START+UPDATE", "COMMIT"]


def test_when_a_block_rolls_back_itself_then_nothing_more_is_sent(
    db: isolde.Isolde, nodes: FakeRequests
) -> None:
    with db.transaction() as tx:
        tx.rollback()
    assert nodes.transcript == []
    with pytest.raises(RuntimeError, match="rolled back"):
        tx.execute(UPDATE)


def test_when_a_transactional_function_calls_another_then_they_are_one_transaction(
    db: isolde.Isolde, nodes: FakeRequests
) -> None:
    @isolde.transactional()
    def inner(tx: Transaction, word: str) -> str:
        update(tx)
        return word

    @isolde.transactional(TransactionOptions(max_attempts=2))
    def outer(tx: Transaction, *, word: str) -> str:
        return inner(tx, word)

    nodes.failing("COMMIT", conflict())
    assert outer(db, word="both") == "both"
    assert nodes.transcript == ["START+UPDATE", "COMMIT"] * 2


def test_when_the_program_is_interrupted_then_nothing_is_run_again(
    db: isolde.Isolde, nodes: FakeRequests
) -> None:
    def interrupted(tx: Transaction) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        db.run(interrupted)
    assert nodes.transcript == []


def test_when_an_error_is_pickled_then_it_stays_what_it_is() -> None:
    error = isolde.IsoldeError.find(conflict())
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is isolde.ConflictError
    assert (copy.details, str(copy)) == (error and error.details, str(error))


def test_when_the_driver_says_more_than_the_node_then_the_message_is_the_nodes() -> None:
    assert str(isolde.IsoldeError.find(conflict())).startswith("It did not work. [isolde code=")


def test_when_a_code_is_newer_than_the_client_then_its_name_is_in_the_details() -> None:
    error = isolde.IsoldeError.find(refusal("MOON_IN_SEVENTH_HOUSE", True, "not_committed"))
    assert error is not None and error.code is ErrorCode.UNKNOWN and error.is_safe_to_run_again
    assert error.details["code"] == "MOON_IN_SEVENTH_HOUSE"
    assert isolde.IsoldeError.find(InvalidRequest("no trailer here")) is None


@pytest.mark.parametrize(
    ("options", "cql"),
    [
        (TransactionOptions(), "START TRANSACTION ISOLATION LEVEL SERIALIZABLE"),
        (
            TransactionOptions(isolation_level=isolde.IsolationLevel.SNAPSHOT, read_only=True),
            "START TRANSACTION ISOLATION LEVEL SNAPSHOT READ ONLY",
        ),
        (
            TransactionOptions.as_of(5),
            "START TRANSACTION ISOLATION LEVEL SERIALIZABLE READ ONLY AS OF 5",
        ),
    ],
)
def test_when_options_are_given_then_the_start_statement_says_them(
    options: TransactionOptions, cql: str
) -> None:
    assert options.start_statement == cql


def test_when_options_cannot_work_then_they_are_refused() -> None:
    for wrong in ({"max_attempts": 0}, {"time_limit_seconds": 0.0}, {"as_of_micros": -1}):
        with pytest.raises(ValueError, match=r"is -?\d"):
            TransactionOptions(**wrong)


def test_when_there_are_more_failures_then_pauses_grow_up_to_the_cap() -> None:
    options = TransactionOptions(backoff_base_seconds=0.01, backoff_cap_seconds=0.05)
    pauses = [options.pause_after(failed, 0, 1, 10) for failed in (1, 2, 3, 4, 9)]
    assert pauses == [0.01, 0.02, 0.04, 0.05, 0.05]
    assert options.pause_after(10, 0, 1, 10) is None
    assert options.pause_after(1, 10, 1, 10) is None
