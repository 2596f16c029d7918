# SPDX-License-Identifier: Apache-2.0
"""The client against a real node, through the fixtures that it gives to applications."""

from __future__ import annotations

import concurrent.futures
import random
from typing import Any, Callable

import pytest
from cassandra import InvalidRequest
from cassandra.protocol import SyntaxException
from cassandra.query import BatchStatement, SimpleStatement, dict_factory

import isolde
from isolde import Change, ErrorCode, IsolationLevel, Lost, Transaction, TransactionOptions

Balances = Callable[[], dict[int, int]]
SNAPSHOT = TransactionOptions(isolation_level=IsolationLevel.SNAPSHOT)


def balance(tx: Transaction, table: str, number: int) -> int:
    row = tx.execute(f"SELECT balance FROM {table} WHERE id = %s", (number,)).one()
    return int(row[0])


def set_balance(tx: Transaction, table: str, number: int, value: int) -> None:
    tx.execute(f"UPDATE {table} SET balance = %s WHERE id = %s", (value, number))


@isolde.transactional(TransactionOptions(max_attempts=500, time_limit_seconds=60))
def transfer(tx: Transaction, table: str, source: int, target: int, amount: int) -> int:
    left = balance(tx, table, source) - amount
    set_balance(tx, table, source, left)
    set_balance(tx, table, target, balance(tx, table, target) + amount)
    return left


def test_when_a_block_commits_then_all_of_it_is_there(
    isolde_session: Any, accounts: str, balances: Balances
) -> None:
    with isolde.transaction(isolde_session) as tx:
        set_balance(tx, accounts, 1, 50)
        set_balance(tx, accounts, 2, 150)
        assert balance(tx, accounts, 1) == 50
        assert balances()[1] == 100
        result = tx.commit()
    assert balances() == {1: 50, 2: 150, 3: 100, 4: 100}
    written = isolde_session.execute(f"SELECT writetime(balance) FROM {accounts} WHERE id = 1")
    assert result.commit_timestamp == written.one()[0]
    assert result.transaction_id == tx.id


def test_when_a_block_raises_then_nothing_of_it_is_there(
    isolde_session: Any, accounts: str, balances: Balances
) -> None:
    with pytest.raises(LookupError):
        with isolde.transaction(isolde_session) as tx:
            set_balance(tx, accounts, 1, 50)
            raise LookupError
    assert balances()[1] == 100


def test_when_many_transfer_then_the_sum_stays(
    isolde_session: Any, accounts: str, balances: Balances
) -> None:
    def work(seed: int) -> None:
        dice = random.Random(seed)
        for _ in range(10):
            source, target = dice.sample(range(1, 5), 2)
            transfer(isolde_session, accounts, source, target, 1)

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert sum(balances().values()) == 400


def test_when_a_conflict_comes_then_the_error_names_table_and_key(
    isolde_session: Any, accounts: str
) -> None:
    with pytest.raises(isolde.ConflictError) as raised:
        with isolde.transaction(isolde_session) as tx:
            balance(tx, accounts, 1)
            set_balance(tx, accounts, 2, 0)
            isolde.run(isolde_session, lambda other: set_balance(other, accounts, 1, 5))
    error = raised.value
    assert (error.code, error.retryable) == (ErrorCode.CONFLICT, True)
    assert error.details["table"].endswith(accounts) and error.details["key"] == "1"
    assert error.transaction_id == tx.id


def test_when_two_write_what_the_other_read_then_only_snapshot_lets_them(
    isolde_session: Any, accounts: str
) -> None:
    def skew(options: TransactionOptions) -> None:
        db = isolde.Isolde(isolde_session)
        with db.transaction(options) as one, db.transaction(options) as other:
            balance(one, accounts, 1)
            balance(other, accounts, 2)
            set_balance(one, accounts, 2, 0)
            set_balance(other, accounts, 1, 0)

    skew(SNAPSHOT)
    with pytest.raises(isolde.ConflictError):
        skew(TransactionOptions())


def test_when_a_transaction_only_reads_then_it_sees_its_start_and_may_not_write(
    isolde_session: Any, accounts: str
) -> None:
    tx = isolde.Isolde(isolde_session).begin(TransactionOptions.reading())
    transfer(isolde_session, accounts, 1, 2, 10)
    assert balance(tx, accounts, 1) == 100
    with pytest.raises(isolde.NotCommittedError) as raised:
        set_balance(tx, accounts, 1, 0)
    assert raised.value.code is ErrorCode.READ_ONLY_TRANSACTION
    tx.rollback()


def test_when_the_past_is_asked_for_then_it_is_answered(isolde_session: Any, accounts: str) -> None:
    with isolde.Isolde(isolde_session).begin() as tx:
        before = tx.start_timestamp
    transfer(isolde_session, accounts, 1, 2, 10)
    past = TransactionOptions.as_of(before)
    assert isolde.run(isolde_session, lambda tx: balance(tx, accounts, 1), past) == 100
    with pytest.raises(isolde.IsoldeError) as raised:
        isolde.run(isolde_session, lambda tx: None, TransactionOptions.as_of(10**17))
    assert raised.value.code is ErrorCode.INVALID_TIMESTAMP


def test_when_there_are_many_pages_then_all_are_of_one_snapshot(
    isolde_session: Any, accounts: str
) -> None:
    table = f"{accounts}_paged"
    isolde_session.execute(f"CREATE TABLE {table} (p int, c int, PRIMARY KEY (p, c))")
    isolde_session.execute(f"ENABLE TRANSACTIONS ON {table}")
    for c in range(30):
        isolde_session.execute(f"INSERT INTO {table} (p, c) VALUES (0, {c})")
    with isolde.transaction(isolde_session, TransactionOptions.reading()) as tx:
        paged = SimpleStatement(f"SELECT c FROM {table} WHERE p = 0", fetch_size=7)
        rows = (row for row in tx.execute(paged))
        first = next(rows)
        isolde_session.execute(f"DELETE FROM {table} WHERE p = 0")
        assert [first, *rows] == [(c,) for c in range(30)]


def test_when_a_page_fails_then_the_function_runs_again(isolde_session: Any, accounts: str) -> None:
    runs: list[Transaction] = []

    def read(tx: Transaction) -> int:
        runs.append(tx)
        rows = tx.execute(SimpleStatement(f"SELECT id FROM {accounts}", fetch_size=2))
        if len(runs) == 1:
            isolde_session.execute(f"TRUNCATE {accounts}")  # The snapshot is gone.
        return len(list(rows))

    assert isolde.run(isolde_session, read) == 0
    assert len(runs) == 2


def test_when_statements_are_prepared_or_batched_then_they_take_part(
    isolde_session: Any, accounts: str, balances: Balances
) -> None:
    prepared = isolde_session.prepare(f"UPDATE {accounts} SET balance = ? WHERE id = ?")
    with isolde.transaction(isolde_session) as tx:
        tx.execute(prepared, (1, 1))
        tx.execute(prepared.bind((2, 2)))
        batch = BatchStatement()
        batch.add(prepared, (3, 3))
        batch.add(SimpleStatement(f"UPDATE {accounts} SET balance = %s WHERE id = %s"), (4, 4))
        tx.execute(batch)
        assert balances()[1] == 100
    assert balances() == {1: 1, 2: 2, 3: 3, 4: 4}


def test_when_statements_run_at_the_same_time_then_commit_waits_for_them(
    isolde_session: Any, accounts: str, balances: Balances
) -> None:
    with isolde.transaction(isolde_session) as tx:
        for number in balances():
            tx.execute_async(f"UPDATE {accounts} SET balance = 7 WHERE id = %s", (number,))
    assert set(balances().values()) == {7}


def test_when_a_read_is_wrong_in_itself_then_the_transaction_goes_on(
    isolde_session: Any, accounts: str, balances: Balances
) -> None:
    with isolde.transaction(isolde_session) as tx:
        with pytest.raises(SyntaxException):
            tx.execute("SELECT")
        with pytest.raises(InvalidRequest):
            tx.execute(f"SELECT missing FROM {accounts}")
        set_balance(tx, accounts, 2, 0)
    assert balances() == {1: 100, 2: 0, 3: 100, 4: 100}


def test_when_a_write_fails_then_nothing_of_the_transaction_is_committed(
    isolde_session: Any, accounts: str, balances: Balances
) -> None:
    with pytest.raises(isolde.NotCommittedError) as raised:
        with isolde.transaction(isolde_session) as tx:
            set_balance(tx, accounts, 2, 0)
            with pytest.raises(isolde.NotCommittedError) as refused:
                tx.execute(f"UPDATE {accounts} USING TIMESTAMP 5 SET balance = 0 WHERE id = 1")
            assert refused.value.code is ErrorCode.UNSUPPORTED_TIMESTAMP
    assert raised.value.code is ErrorCode.TRANSACTION_ABORTED
    assert raised.value.details["because"] == "UNSUPPORTED_TIMESTAMP"
    assert balances() == {1: 100, 2: 100, 3: 100, 4: 100}


def test_when_the_session_gives_rows_as_dicts_then_transactions_work_too(
    isolde_cluster: Any, isolde_session: Any, accounts: str
) -> None:
    profile = isolde_cluster.profile_manager.default
    usual, profile.row_factory = profile.row_factory, dict_factory
    try:
        with isolde.transaction(isolde_session) as tx:
            assert tx.execute(f"SELECT id FROM {accounts} WHERE id = 1").one() == {"id": 1}
    finally:
        profile.row_factory = usual


def test_when_commit_is_repeated_then_the_answer_is_the_same(
    isolde_session: Any, accounts: str
) -> None:
    with isolde.transaction(isolde_session) as tx:
        set_balance(tx, accounts, 1, 1)
        result = tx.commit()
    again = tx._requests.commit(tx.id, tx._host, 10, None)
    settled = tx._requests.commit(tx.id, tx._host, 10, tx.start_timestamp)
    assert {again.commit_timestamp, settled.commit_timestamp} == {result.commit_timestamp}


def test_when_an_undecided_transaction_is_settled_then_it_is_aborted_for_good(
    isolde_session: Any, accounts: str, balances: Balances
) -> None:
    tx = isolde.Isolde(isolde_session).begin()
    set_balance(tx, accounts, 1, 1)
    tx._requests.end(tx.id, tx._host, "ROLLBACK")  # as if its node had restarted
    with pytest.raises(InvalidRequest, match="was not decided.*code=CONFLICT retryable=true"):
        tx._requests.commit(tx.id, tx._host, 10, tx.start_timestamp)
    assert balances()[1] == 100


class SpiedSession:
    """Writes down what it is asked to execute."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self.sent: list[tuple[str, set[str]]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    def execute_async(self, statement: Any, *args: Any, **options: Any) -> Any:
        payload = set(options["custom_payload"]) - {"isolde-transaction"}
        self.sent.append((type(statement).__name__, payload))
        return self._session.execute_async(statement, *args, **options)


def test_when_the_writes_of_a_transfer_come_last_then_it_takes_three_requests(
    isolde_session: Any, accounts: str, balances: Balances
) -> None:
    spied = SpiedSession(isolde_session)
    read = isolde_session.prepare(f"SELECT balance FROM {accounts} WHERE id = ?")
    write = isolde_session.prepare(f"UPDATE {accounts} SET balance = ? WHERE id = ?")
    with isolde.transaction(spied) as tx:
        here = tx.execute(read, (1,)).one().balance
        there = tx.execute(read, (2,)).one().balance
        tx.write(write, (here - 30, 1))
        tx.write(write.bind((there + 30, 2)))
        result = tx.commit()
    assert balances() == {1: 70, 2: 130, 3: 100, 4: 100}
    assert spied.sent == [
        ("BoundStatement", {"isolde-start"}),
        ("PreparedStatement", set()),
        ("BatchStatement", {"isolde-commit"}),
    ]
    written = isolde_session.execute(f"SELECT writetime(balance) FROM {accounts} WHERE id = 1")
    assert result == isolde.CommitResult(tx.id, True, written.one()[0])


def test_when_a_read_follows_held_writes_then_it_sees_them_in_their_order(
    isolde_session: Any, accounts: str, balances: Balances
) -> None:
    prepared = isolde_session.prepare(f"UPDATE {accounts} SET balance = ? WHERE id = 1")
    with isolde.transaction(isolde_session) as tx:
        tx.write(prepared, (9,))
        tx.write(f"DELETE FROM {accounts} WHERE id = %s", (1,))
        tx.write(f"INSERT INTO {accounts} (id, balance) VALUES (%s, %s)", (1, 3))
        tx.write(f"UPDATE {accounts} SET balance = 2 WHERE id = 1")
        assert balance(tx, accounts, 1) == 2
        assert balances()[1] == 100
    assert balances()[1] == 2


@pytest.mark.parametrize(
    ("where", "values", "sends"),
    [
        ("WHERE a = ? AND b = ?", (1, 2), True),
        ("WHERE a = 1 AND b = ?", (2,), True),
        ("WHERE a IN (1, ?) AND b = ?", (9, 2), True),
        ("WHERE a in (?, ?) AND b = ?", (1, 9, 2), True),
        ("WHERE token(a, b) = token(?, ?)", (1, 2), True),
        ("WHERE token(a, b) <= token(:a, :b)", (1, 2), True),
        ("WHERE a = ? AND b > ? ALLOW FILTERING", (1, 1), True),
        ("", (), True),
        ("WHERE a = ? AND b = ?", (2, 1), False),
        ("WHERE b = ? AND a = ?", (1, 1), False),
    ],
)
def test_when_a_prepared_read_is_of_another_partition_then_held_writes_are_held_on(
    isolde_session: Any, grid: str, where: str, values: tuple[int, ...], sends: bool
) -> None:
    spied = SpiedSession(isolde_session)
    write = isolde_session.prepare(f"INSERT INTO {grid} (a, b, v) VALUES (?, ?, 5)")
    read = isolde_session.prepare(f"SELECT v FROM {grid} {where}")
    with isolde.transaction(spied) as tx:
        tx.write(write, (1, 2))
        rows = list(tx.execute(read, values))
        assert [kind for kind, _ in spied.sent].count("BatchStatement") == (1 if sends else 0)
    assert [row.v for row in rows] == ([5] if sends else [])
    assert isolde_session.execute(f"SELECT v FROM {grid}").one().v == 5


def test_when_the_key_is_a_map_then_it_is_the_same_in_any_order(isolde_session: Any) -> None:
    isolde_session.execute("CREATE TABLE maps (k frozen<map<int, int>> PRIMARY KEY, v int)")
    isolde_session.execute("ENABLE TRANSACTIONS ON maps")
    write = isolde_session.prepare("INSERT INTO maps (k, v) VALUES (?, 5)")
    read = isolde_session.prepare("SELECT v FROM maps WHERE k = ?")
    with isolde.transaction(isolde_session) as tx:
        tx.write(write, ({1: 1, 2: 2},))
        assert tx.execute(read, ({2: 2, 1: 1},)).one().v == 5


def test_when_a_prepared_read_is_of_another_table_then_prepared_writes_are_held_on(
    isolde_session: Any, accounts: str, grid: str
) -> None:
    spied = SpiedSession(isolde_session)
    read = isolde_session.prepare(f"SELECT v FROM {grid}")
    write = isolde_session.prepare(f"UPDATE {accounts} SET balance = 1 WHERE id = ?")
    with isolde.transaction(spied) as tx:
        tx.write(write, (1,))
        tx.execute(read)
        assert [kind for kind, _ in spied.sent] == ["BoundStatement"]
        tx.write(f"UPDATE {accounts} SET balance = 1 WHERE id = 2")
        tx.execute(read)
        assert [kind for kind, _ in spied.sent][1:] == ["BatchStatement", "BoundStatement"]


def test_when_a_held_write_is_bad_then_commit_fails_and_nothing_is_there(
    isolde_session: Any, accounts: str, balances: Balances
) -> None:
    plain = f"{accounts}_plain"
    isolde_session.execute(f"CREATE TABLE {plain} (id int PRIMARY KEY)")
    bad = [
        ("UPDATE nowhere SET v = 1 WHERE k = 1", InvalidRequest),
        ("UPDAET", SyntaxException),
        (f"INSERT INTO {plain} (id) VALUES (1)", isolde.NotCommittedError),
    ]
    for statement, error in bad:
        with pytest.raises(error):
            with isolde.transaction(isolde_session) as tx:
                tx.execute(f"UPDATE {accounts} SET balance = 0 WHERE id = 1")
                tx.write(f"UPDATE {accounts} SET balance = 0 WHERE id = 2")
                tx.write(statement)
        assert not tx.is_open
        with pytest.raises(error):
            with isolde.transaction(isolde_session) as tx:
                tx.write(f"UPDATE {accounts} SET balance = 0 WHERE id = 2")
                tx.write(statement)
                with pytest.raises(error):
                    balance(tx, accounts, 2)
    assert balances() == {1: 100, 2: 100, 3: 100, 4: 100}


def test_when_there_are_only_held_writes_then_they_are_committed(
    isolde_session: Any, accounts: str, balances: Balances
) -> None:
    def fill(tx: Transaction) -> None:
        for number in range(1, 251):
            tx.write(f"INSERT INTO {accounts} (id, balance) VALUES (%s, 1)", (number,))

    isolde.run(isolde_session, fill)
    assert balances() == {number: 1 for number in range(1, 251)}


def test_when_held_writes_conflict_then_the_function_runs_again(
    isolde_session: Any, accounts: str, balances: Balances
) -> None:
    runs: list[Transaction] = []

    def work(tx: Transaction) -> None:
        runs.append(tx)
        value = balance(tx, accounts, 1)
        if len(runs) == 1:
            isolde.run(isolde_session, lambda other: set_balance(other, accounts, 1, 5))
        tx.write(f"UPDATE {accounts} SET balance = %s WHERE id = 1", (value + 1,))

    isolde.run(isolde_session, work)
    assert balances()[1] == 6
    assert len(runs) == 2


def test_when_commit_with_writes_is_repeated_then_they_are_written_once(
    isolde_session: Any, accounts: str
) -> None:
    table = f"{accounts}_lists"
    isolde_session.execute(f"CREATE TABLE {table} (id int PRIMARY KEY, l list<int>)")
    isolde_session.execute(f"ENABLE TRANSACTIONS ON {table}")
    batch = BatchStatement().add(f"UPDATE {table} SET l = l + [1] WHERE id = 1")
    tx = isolde.Isolde(isolde_session).begin()
    answers = [
        tx._requests.commit(tx.id, tx._host, 10, settled, batch)
        for settled in (None, None, tx.start_timestamp)
    ]
    plain = tx._requests.commit(tx.id, tx._host, 10, None)
    assert {answer.commit_timestamp for answer in answers} == {plain.commit_timestamp}
    assert isolde_session.execute(f"SELECT l FROM {table}").one().l == [1]


def test_when_the_first_answer_has_warnings_then_the_transaction_goes_on_all_the_same(
    isolde_session: Any, accounts: str, balances: Balances
) -> None:
    with isolde.transaction(isolde_session) as tx:
        rows = tx.execute(f"SELECT count(*) FROM {accounts}")
        assert rows.response_future.warnings and not rows.response_future.custom_payload
        transfer(isolde_session, accounts, 3, 4, 1)
        assert tx.start_timestamp > 0
        assert balance(tx, accounts, 3) == 100
    assert balances()[3] == 99


def test_when_the_first_statement_is_not_waited_for_then_the_next_one_is_in_the_transaction(
    isolde_session: Any, accounts: str, balances: Balances
) -> None:
    with isolde.transaction(isolde_session) as tx:
        tx.execute_async(f"UPDATE {accounts} SET balance = 7 WHERE id = 1")
        assert balance(tx, accounts, 1) == 7
        tx.rollback()
    assert balances()[1] == 100


def test_when_a_row_is_locked_then_another_transaction_is_refused_and_may_go_on(
    isolde_session: Any, accounts: str, balances: Balances
) -> None:
    lock = f"SELECT balance FROM {accounts} WHERE id = 1 FOR UPDATE"
    with isolde.transaction(isolde_session) as other:
        with isolde.transaction(isolde_session) as tx:
            assert tx.execute(lock).one().balance == 100
            with pytest.raises(isolde.IsoldeError) as refused:
                other.execute(lock + " NOWAIT")
            assert refused.value.code is ErrorCode.ROW_LOCKED
            assert refused.value.retryable
            set_balance(tx, accounts, 1, 50)
        assert other.execute(lock).one().balance == 50
        set_balance(other, accounts, 1, 40)
    assert balances()[1] == 40


def test_when_a_savepoint_is_rolled_back_then_the_rest_is_committed(
    isolde_session: Any, accounts: str, balances: Balances
) -> None:
    with isolde.transaction(isolde_session) as tx:
        set_balance(tx, accounts, 1, 50)
        outer = tx.savepoint()
        tx.write(f"UPDATE {accounts} SET balance = 60 WHERE id = 1")
        with pytest.raises(InvalidRequest):
            with tx.savepoint():
                set_balance(tx, accounts, 2, 0)
                tx.execute(f"UPDATE {accounts} SET nothing = 0 WHERE id = 2")
        assert balance(tx, accounts, 1) == 60
        outer.rollback()
        tx.write(f"UPDATE {accounts} SET nothing = 0 WHERE id = 2")
        with pytest.raises(InvalidRequest):
            balance(tx, accounts, 2)
        outer.rollback()
        with tx.savepoint():
            tx.write(f"UPDATE {accounts} SET balance = 70 WHERE id = 3")
        with pytest.raises(InvalidRequest):
            with tx.savepoint():
                tx.write(f"UPDATE {accounts} SET nothing = 0 WHERE id = 2")
        assert balance(tx, accounts, 3) == 70
        outer.release()
        with pytest.raises(isolde.IsoldeError) as refused:
            outer.rollback()
        assert refused.value.code is ErrorCode.SAVEPOINT_NOT_FOUND
        tx.rollback()
    assert balances() == {1: 100, 2: 100, 3: 100, 4: 100}
    with isolde.transaction(isolde_session) as tx:
        set_balance(tx, accounts, 1, 50)
        with pytest.raises(LookupError):
            with tx.savepoint():
                tx.write(f"UPDATE {accounts} SET balance = 0 WHERE id = 1")
                raise LookupError
        tx.write(f"UPDATE {accounts} SET balance = 150 WHERE id = 2")
    assert balances() == {1: 50, 2: 150, 3: 100, 4: 100}


def test_when_another_row_has_a_unique_value_then_the_error_names_it(
    isolde_session: Any, accounts: str
) -> None:
    table = f"{accounts}_members"
    isolde_session.execute(f"CREATE TABLE {table} (id int PRIMARY KEY, email text)")
    isolde_session.execute(f"ENABLE TRANSACTIONS ON {table}")
    isolde_session.execute(f"CREATE UNIQUE INDEX ON {table} (email)")
    insert = f"INSERT INTO {table} (id, email) VALUES (%s, %s)"
    isolde_session.execute(insert, (1, "a"))
    with pytest.raises(isolde.NotCommittedError) as raised:
        isolde.run(isolde_session, lambda tx: tx.execute(insert, (2, "a")))
    assert (raised.value.code, raised.value.retryable) == (ErrorCode.UNIQUE_VIOLATION, False)
    assert raised.value.details["value"] == "email = 'a'"
    isolde.run(isolde_session, lambda tx: tx.write(insert, (2, "b")))
    found = isolde_session.execute(f"SELECT id FROM {table} WHERE email = 'b'")
    assert [row.id for row in found] == [2]


def test_when_a_row_is_watched_then_each_commit_comes_once(
    isolde_session: Any, accounts: str
) -> None:
    client = isolde.Isolde(isolde_session)
    select = f"SELECT CHANGES FROM {accounts} WHERE id = ?"
    with isolde.transaction(isolde_session) as tx:
        assert balance(tx, accounts, 1) == 100
        start = tx.start_timestamp
    commits = []
    for account in (1, 2, 1):
        with isolde.transaction(isolde_session) as tx:
            set_balance(tx, accounts, account, 7)
            result = tx.commit()
        assert result.commit_timestamp is not None
        if account == 1:
            commits.append(result.commit_timestamp)
    watch = client.watch(select, [1], start)
    events = [event for _, event in zip(range(2), watch)]
    assert events == [Change(commit) for commit in commits]

    isolde_session.execute(f"TRUNCATE {accounts}")
    again = client.watch(select, [1], watch.position)
    assert isinstance(next(iter(again)), Lost)
    with pytest.raises(InvalidRequest):
        next(iter(client.watch("SELECT CHANGES FROM systests.nothing")))
