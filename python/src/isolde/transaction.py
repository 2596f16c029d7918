# SPDX-License-Identifier: Apache-2.0
"""An open transaction."""

from __future__ import annotations

import contextlib
import enum
import random
import time
import uuid
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Optional, Union

from cassandra import DriverException
from cassandra.cluster import NoHostAvailable, ResponseFuture, ResultSet
from cassandra.protocol import ErrorMessage
from cassandra.query import PreparedStatement, Statement

from isolde._commit import CommitResolution
from isolde._held import HeldWrites
from isolde._requests import WRONG_IN_ITSELF, First, Requests, before_commit
from isolde.errors import ErrorCode, IsoldeError, Outcome, of_client
from isolde.options import TransactionOptions

# Of the time limit, so that others are asked too before it is over.
_COMMIT_TIMEOUT_SHARE = 0.25
# After an answer. Later the node may have restarted, or have ended the transaction as idle, and
# START would begin another one of that name.
_START_MAY_BE_REPEATED_SECONDS = 5


@dataclass(frozen=True)
class CommitResult:
    """How a transaction ended: its id, and the timestamp of all that it wrote."""

    transaction_id: uuid.UUID
    committed: bool
    commit_timestamp: Optional[int]


class _State(enum.Enum):
    OPEN = "open"
    COMMITTED = "committed"
    ROLLED_BACK = "rolled back"
    UNKNOWN = "of unknown outcome"


class Savepoint:
    """A moment of a transaction that it can go back to.

    As a context manager it is released at the end, or gone back to if an exception comes::

        with tx.savepoint():
            tx.execute("INSERT INTO bank.members (id, email) VALUES (%s, %s)", (7, "a@example.org"))
    """

    def __init__(self, transaction: Transaction, name: str) -> None:
        self._transaction = transaction
        self.name = name

    def rollback(self) -> None:
        """Takes back what was written since, also after a statement that was refused.

        What was read stays read. The savepoint stays; those that were set after it are gone. Raises
        IsoldeError with REQUEST_FAILED if a statement got no answer: it may be executed later, so
        that only a rollback of the transaction is safe.
        """
        self._transaction._roll_back_to(self)

    def release(self) -> None:
        """Forgets the savepoint, and those after it. What was written stays."""
        self._transaction.execute(f"RELEASE SAVEPOINT {self.name}")

    def __enter__(self) -> Savepoint:
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        if not self._transaction.is_open:
            return
        if error is None:
            try:
                self._transaction._await_all()
                self.release()
                return
            except Exception:
                self.rollback()
                self.release()
                raise
        self.rollback()
        self.release()


class TransactionRows(ResultSet):  # type: ignore[misc]
    """The driver's result set; pages that it fetches later fail as statements do."""

    _transaction: Transaction

    def fetch_next_page(self) -> None:
        self._transaction._send_held()
        try:
            super().fetch_next_page()
        except Exception as error:
            self._transaction._raise(error)


class Transaction:
    """An open transaction, for one thread at a time.

    As a context manager it commits at the end, or rolls back if an exception comes::

        with isolde.transaction(session) as tx:
            tx.execute("UPDATE bank.accounts SET balance = %s WHERE id = %s", (40, 7))

    It starts with its first statement, in the same request. Strings and statements of all kinds of
    the driver can be executed. All go to the node that answered the first, and the driver neither
    retries them elsewhere nor speculates with them. Read all pages of a result before the
    transaction ends.
    """

    def __init__(self, requests: Requests, options: TransactionOptions) -> None:
        """Sends nothing yet; use ``isolde.transaction`` or ``Isolde.begin``."""
        self._requests = requests
        self._options = options
        self.id = uuid.uuid4()
        self._state = _State.OPEN
        # Why what COMMIT would commit is not what the application wrote, or not known to be.
        self._doomed: Optional[BaseException] = None
        self._savepoints = 0
        self._running: list[ResponseFuture] = []
        self._held: Optional[HeldWrites] = None
        self._first: Optional[First] = None
        self._host: Any = None
        # Once it is known, the node that holds the transaction has begun it.
        self._start_timestamp: Optional[int] = None

    @property
    def start_timestamp(self) -> int:
        """What the transaction reads as of, in microseconds; it starts now if it has not yet."""
        known = self._start_timestamp
        if known is None and self._first is not None:
            known = self._first.start_timestamp
        if known is None:
            if not self.is_open:
                raise self._ended()
            self._ensure_started()
            known = self._start_timestamp
            assert known is not None
        return known

    @property
    def is_open(self) -> bool:
        """True until the first commit or rollback."""
        return self._state is _State.OPEN

    @property
    def options(self) -> TransactionOptions:
        return self._options

    def execute(
        self, statement: Union[str, Statement], parameters: Any = None, **options: Any
    ) -> TransactionRows:
        """Executes a statement; reads see what the transaction wrote before.

        Parameters and options are those of the driver's ``Session.execute``, but for ``host`` and
        ``custom_payload``. Raises IsoldeError if Isolde refused it or the node was not reached, and
        the driver's exceptions if it is wrong in itself.
        """
        future = self._send_after_held(statement, parameters, options)
        try:
            result = future.result()
        except BaseException as error:
            # Also if it was interrupted: the statement may be executed later.
            self._raise(error)
        self._ensure_started()
        rows = TransactionRows(result.response_future, result.current_rows)
        rows._transaction = self
        return rows

    def execute_async(
        self, statement: Union[str, Statement], parameters: Any = None, **options: Any
    ) -> ResponseFuture:
        """Executes a statement without waiting for it.

        The future is the driver's and fails with the driver's exceptions; ``IsoldeError.find`` tells
        what Isolde said. ``commit`` waits for all futures, and fails if one of them did.
        """
        future = self._send_after_held(statement, parameters, options)
        self._running.append(future)
        return future

    def write(self, statement: Union[str, Statement], parameters: Any = None) -> None:
        """Executes an INSERT, UPDATE or DELETE, not at once but together with what follows.

        It is held back, and sent with other such writes as one batch before the next statement that
        may see it, or in one request with COMMIT. (A prepared read of another table or partition
        can't see a prepared write.) They are sent at once when there are 100, or 1 MiB of them. What is
        wrong with them is raised by the call that sends them, and by ``commit`` in any case, which
        sends nothing then. Batches are for ``execute``.
        """
        if not self.is_open:
            raise self._ended()
        held = self._held or HeldWrites(self._requests.encoder)
        held.add(statement, parameters)
        self._held = held
        if held.is_full:
            self._send_held()

    def savepoint(self) -> Savepoint:
        """Marks this moment: what is written after it can be taken back.

        A transaction may have 100 savepoints.
        """
        self._await_all()
        self._savepoints += 1
        savepoint = Savepoint(self, f"s{self._savepoints}")
        self.execute(f"SAVEPOINT {savepoint.name}")
        return savepoint

    def _roll_back_to(self, savepoint: Savepoint) -> None:
        if not self.is_open:
            raise self._ended()
        held, self._held = self._held, None  # What is still held was written after it.
        while self._running:
            try:
                self._running[-1].result()
            except Exception as error:
                self._seen(error)
            self._running.pop()
        doomed = self._doomed
        if doomed is not None and not _is_refusal(doomed):
            self._held = held
            raise doomed
        self.execute(f"ROLLBACK TO {savepoint.name}")
        self._doomed = None

    def _await_all(self) -> None:
        """Nothing that was sent before may be executed after what follows."""
        self._send_held()
        self._await_running()

    def commit(self) -> CommitResult:
        """Commits, in one request with the writes that are held back.

        If the answer gets lost, COMMIT is repeated, which is harmless, on this and on other nodes
        until one tells how the transaction ended or the time limit is over. When half of that is
        over, it is aborted if it is not decided, to have an answer. After an OutcomeUnknownError
        it may be called again, to ask again.
        """
        if self._state not in (_State.OPEN, _State.UNKNOWN):
            raise self._ended()
        was_unknown = self._state is _State.UNKNOWN
        if not was_unknown:
            self._prepare_commit()
        try:
            row = self._commit_row(was_unknown)
        except IsoldeError as error:
            self._state = _STATE_AFTER[error.outcome]
            raise
        except WRONG_IN_ITSELF as error:
            # The last writes are wrong in themselves, say: it stays open, to be rolled back.
            self._doomed = error
            raise
        except BaseException:
            # Interrupted, say: COMMIT may be on its way.
            self._state = _State.UNKNOWN
            raise
        self._state = _State.COMMITTED
        self._held = None
        return CommitResult(self.id, row.committed, row.commit_timestamp)

    def rollback(self) -> None:
        """Nothing of the transaction will be seen. Does nothing if it has ended.

        Does not raise when the node can't be reached: it rolls back by itself then, later.
        """
        if not self.is_open:
            return
        self._state = _State.ROLLED_BACK
        self._held = None
        if self._start_timestamp is None and self._first is not None:
            with contextlib.suppress(Exception):
                self._first.await_answer()
        if self._host is not None:
            # Whatever goes wrong, nothing is committed.
            with contextlib.suppress(Exception):
                self._requests.end(self.id, self._host, "ROLLBACK")

    def __enter__(self) -> Transaction:
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        if error is not None:
            self.rollback()
        elif self.is_open:
            try:
                self.commit()
            finally:
                self.rollback()

    def __repr__(self) -> str:
        return f"<Transaction {self.id} ({self._state.value})>"

    @property
    def _may_have_committed(self) -> bool:
        return self._state in (_State.COMMITTED, _State.UNKNOWN)

    def _start(self) -> None:
        try:
            started = self._requests.start(self.id, self._host, self._options.start_statement)
        except Exception as error:
            self._raise(error)
        self._host, self._start_timestamp = started

    def _send(self, statement: Any, parameters: Any, options: dict[str, Any]) -> ResponseFuture:
        if not self.is_open:
            raise self._ended()
        # The node ignores START with a paging state: usually that is a further page.
        continues = options.get("paging_state") is not None
        if self._first is None and self._start_timestamp is None and not continues:
            start = self._options.start_statement
            try:
                first = self._requests.send_first(self.id, start, statement, parameters, **options)
            except NoHostAvailable as error:
                self._raise(error)
            self._first, self._host = first, first.host
            return first.future
        self._ensure_started()
        return self._requests.send(self.id, self._host, statement, parameters, **options)

    def _ensure_started(self) -> None:
        """Before each request but the first: the node has begun the transaction, and said when."""
        if self._start_timestamp is not None:
            return
        if self._first is not None:
            self._start_timestamp = self._start_told(self._first)
        if self._start_timestamp is None:
            # Also if the first statement failed, which can be before or after the node began it.
            self._start()

    def _start_told(self, first: First) -> Optional[int]:
        try:
            first.await_answer()
        except Exception as error:
            self._seen(error)
        age = 0.0 if first.answered_at is None else time.monotonic() - first.answered_at
        if first.start_timestamp is None and age > _START_MAY_BE_REPEATED_SECONDS:
            self._doom(
                of_client(
                    ErrorCode.REQUEST_FAILED,
                    True,
                    Outcome.NOT_COMMITTED,
                    self.id,
                    "The node did not say when the transaction started, and it is too late to ask.",
                )
            )
        if first.start_timestamp is None and self._doomed is not None:
            raise self._doomed
        return first.start_timestamp

    def _send_after_held(
        self, statement: Any, parameters: Any, options: dict[str, Any]
    ) -> ResponseFuture:
        """Sends a statement, and before it the writes that it may see."""
        if self._held is not None:
            if isinstance(statement, PreparedStatement):
                statement, parameters = statement.bind(parameters), None
            if self._held.may_be_seen_by(statement):
                self._send_held()
        return self._send(statement, parameters, options)

    def _send_held(self) -> None:
        if self._held is None or not self.is_open:
            return
        batch, self._held = self._held.batch, None
        try:
            self._send(batch, None, {}).result()
        except BaseException as error:
            # Also if it was interrupted: the writes may be there, or not.
            seen = self._seen(error)
            self._doom(seen)
            self._raise(seen)
        self._ensure_started()

    def _prepare_commit(self) -> None:
        self._await_running()
        if self._doomed is not None:
            raise self._doomed
        if self._options.read_only:
            self._send_held()  # To be refused.
        self._ensure_started()

    def _await_running(self) -> None:
        while self._running:
            future = self._running.pop()
            try:
                future.result()
            except Exception as error:
                self._raise(error)

    def _commit_row(self, was_unknown: bool) -> Any:
        if self._options.read_only:
            # Nothing can be lost: it just fails, and may be run again.
            try:
                return self._requests.end(self.id, self._host, "COMMIT")
            except Exception as error:
                self._raise(error)
        return self._commit_until_known(was_unknown)

    def _commit_until_known(self, was_unknown: bool) -> Any:
        has_writes = self._held is not None
        resolution = CommitResolution(self.id, self._options, was_unknown, has_writes)
        timeout = self._options.time_limit_seconds * _COMMIT_TIMEOUT_SHARE
        begun = time.monotonic()
        if not was_unknown and not self._requests.is_reachable(self._host):
            self._raise(ConnectionError("the node that holds the transaction is gone."))
        while True:
            host = self._requests.other_than(self._host) if resolution.is_elsewhere else self._host
            start = self._start_timestamp if resolution.is_to_be_settled else None
            # The holder may not have the last writes yet; it writes them once. Others only know
            # how the transaction was decided.
            writes = self._held.batch if self._held is not None and host == self._host else None
            try:
                return self._requests.commit(self.id, host, timeout, start, writes)
            except Exception as error:
                step = resolution.after_failure(
                    error, time.monotonic() - begun, random.random()
                )
                if step.pause_seconds is None:
                    raise step.error from step.error.__cause__
            time.sleep(step.pause_seconds)

    def _raise(self, error: BaseException) -> Any:
        seen = self._seen(error)
        raise seen from (seen.__cause__ if seen is not error else error.__cause__)

    def _seen(self, error: BaseException) -> BaseException:
        """The error as the application sees it; if it leaves open what was done, all is off."""
        seen = error if isinstance(error, IsoldeError) else before_commit(error, self.id)
        if not _is_refusal(seen):
            self._doom(seen)
        return seen

    def _doom(self, why: BaseException) -> None:
        """COMMIT will raise it. What nobody knows is worse than what was refused."""
        if self._doomed is None or (_is_refusal(self._doomed) and not _is_refusal(why)):
            self._doomed = why

    def _ended(self) -> RuntimeError:
        return RuntimeError(f"Transaction {self.id} takes no more requests: it is {self._state.value}.")


def _is_refusal(error: BaseException) -> bool:
    """Whether the node has answered, so that nothing of the request comes later."""
    if isinstance(error, IsoldeError):
        return error.code is not ErrorCode.REQUEST_FAILED
    return isinstance(error, (DriverException, ErrorMessage))


_STATE_AFTER = {
    Outcome.COMMITTED: _State.COMMITTED,
    Outcome.UNKNOWN: _State.UNKNOWN,
    Outcome.NOT_COMMITTED: _State.ROLLED_BACK,
}
