# SPDX-License-Identifier: Apache-2.0
"""An open transaction."""

from __future__ import annotations

import enum
import random
import time
import uuid
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Optional, Union

from cassandra.cluster import ResponseFuture, ResultSet
from cassandra.query import Statement

from isolde._commit import CommitResolution
from isolde._requests import Requests, before_commit
from isolde.errors import ErrorCode, IsoldeError, Outcome
from isolde.options import TransactionOptions

# Of the time limit, so that others are asked too before it is over.
_COMMIT_TIMEOUT_SHARE = 0.25


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


class TransactionRows(ResultSet):  # type: ignore[misc]
    """The driver's result set; pages that it fetches later fail as statements do."""

    _transaction: Transaction

    def fetch_next_page(self) -> None:
        try:
            super().fetch_next_page()
        except Exception as error:
            self._transaction._raise(error)


class Transaction:
    """An open transaction, for one thread at a time.

    As a context manager it commits at the end, or rolls back if an exception comes::

        with isolde.transaction(session) as tx:
            tx.execute("UPDATE bank.accounts SET balance = %s WHERE id = %s", (40, 7))

    Strings and statements of all kinds of the driver can be executed. All go to the node that
    answered START TRANSACTION, and the driver neither retries them elsewhere nor speculates with
    them. Read all pages of a result before the transaction ends.
    """

    def __init__(self, requests: Requests, options: TransactionOptions) -> None:
        """Starts it; use ``isolde.transaction`` or ``Isolde.begin``."""
        self._requests = requests
        self._options = options
        self.id = uuid.uuid4()
        self._state = _State.OPEN
        # The first statement that got no answer: what COMMIT would commit is not known then.
        self._unanswered: Optional[IsoldeError] = None
        self._running: list[ResponseFuture] = []
        try:
            started = requests.start(self.id, options.start_statement)
        except Exception as error:
            self._raise(error)
        self._host = started.host
        self.start_timestamp: int = started.start_timestamp
        """What the transaction reads as of, in microseconds."""

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
        future = self._send(statement, parameters, options)
        try:
            result = future.result()
        except Exception as error:
            self._raise(error)
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
        future = self._send(statement, parameters, options)
        self._running.append(future)
        return future

    def commit(self) -> CommitResult:
        """Commits.

        If the answer gets lost, COMMIT is repeated, which is harmless, on this and on other nodes
        until one tells how the transaction ended or the time limit is over. When half of that is
        over, it is aborted if it is not decided, to have an answer. After an OutcomeUnknownError
        it may be called again, to ask again.
        """
        if self._state not in (_State.OPEN, _State.UNKNOWN):
            raise self._ended()
        was_unknown = self._state is _State.UNKNOWN
        self._await_running()
        if self._unanswered is not None:
            raise self._unanswered
        try:
            row = self._commit_row(was_unknown)
        except IsoldeError as error:
            self._state = _STATE_AFTER[error.outcome]
            raise
        except BaseException:
            # Interrupted, say: COMMIT may be on its way.
            self._state = _State.UNKNOWN
            raise
        self._state = _State.COMMITTED
        return CommitResult(self.id, row.committed, row.commit_timestamp)

    def rollback(self) -> None:
        """Nothing of the transaction will be seen. Does nothing if it has ended.

        Does not raise when the node can't be reached: it rolls back by itself then, later.
        """
        if not self.is_open:
            return
        self._state = _State.ROLLED_BACK
        try:
            self._requests.end(self.id, self._host, "ROLLBACK")
        except Exception:  # noqa: BLE001 - whatever it was, nothing is committed
            return

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

    def _send(self, statement: Any, parameters: Any, options: dict[str, Any]) -> ResponseFuture:
        if not self.is_open:
            raise self._ended()
        return self._requests.send(self.id, self._host, statement, parameters, **options)

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
        resolution = CommitResolution(self.id, self._options, was_unknown)
        timeout = self._options.time_limit_seconds * _COMMIT_TIMEOUT_SHARE
        begun = time.monotonic()
        if not was_unknown and not self._requests.is_reachable(self._host):
            self._raise(ConnectionError("the node that holds the transaction is gone."))
        while True:
            host = self._requests.other_than(self._host) if resolution.is_elsewhere else self._host
            start = self.start_timestamp if resolution.is_to_be_settled else None
            try:
                return self._requests.commit(self.id, host, timeout, start)
            except Exception as error:
                step = resolution.after_failure(
                    error, time.monotonic() - begun, random.random()
                )
                if step.pause_seconds is None:
                    raise step.error from step.error.__cause__
            time.sleep(step.pause_seconds)

    def _raise(self, error: BaseException) -> Any:
        seen = before_commit(error, self.id)
        if isinstance(seen, IsoldeError) and seen.code is ErrorCode.REQUEST_FAILED:
            self._unanswered = self._unanswered or seen
        raise seen from (seen.__cause__ if seen is not error else error.__cause__)

    def _ended(self) -> RuntimeError:
        return RuntimeError(f"Transaction {self.id} takes no more requests: it is {self._state.value}.")


_STATE_AFTER = {
    Outcome.COMMITTED: _State.COMMITTED,
    Outcome.UNKNOWN: _State.UNKNOWN,
    Outcome.NOT_COMMITTED: _State.ROLLED_BACK,
}
