# SPDX-License-Identifier: Apache-2.0
"""The requests that a transaction consists of, through a session of the driver."""

from __future__ import annotations

import copy
import random
import time
from typing import Any, NamedTuple, Optional, Union
from uuid import UUID

from cassandra import OperationTimedOut, RequestValidationException, Timeout, Unavailable
from cassandra.cluster import EXEC_PROFILE_DEFAULT, ExecutionProfile, NoHostAvailable
from cassandra.connection import ConnectionBusy, ConnectionException
from cassandra.policies import FallthroughRetryPolicy
from cassandra.pool import NoConnectionsAvailable
from cassandra.protocol import IsBootstrappingErrorMessage, OverloadedErrorMessage
from cassandra.protocol import RequestValidationException as RequestValidationMessage
from cassandra.query import BatchStatement, PreparedStatement, SimpleStatement, Statement

from isolde.errors import ErrorCode, IsoldeError, Outcome, of_client, parse, with_details

PAYLOAD_KEY = "isolde-transaction"
# With a statement: the text of START TRANSACTION, which is executed before it.
START_KEY = "isolde-start"
# With COMMIT: abort the transaction if it is not decided. In answers to requests with a START.
START_TIMESTAMP_KEY = "isolde-start-timestamp"
# With a batch: COMMIT after it.
COMMIT_KEY = "isolde-commit"

# The driver gave up before it wrote the request to a connection.
_NEVER_SENT = (NoConnectionsAvailable, ConnectionBusy)
# A node looked at the statement and found it wrong: syntax, permissions. The driver raises some
# of these as they came in the protocol.
WRONG_IN_ITSELF = (RequestValidationException, RequestValidationMessage)
# Too little was reachable at the moment; the same request may succeed a little later. Not a failed
# read or write: what is stored is to blame, as with too many tombstones, and a retry fails again.
_PASSING = (
    OperationTimedOut,
    ConnectionException,
    ConnectionError,
    Unavailable,
    Timeout,
    OverloadedErrorMessage,
    IsBootstrappingErrorMessage,
    *_NEVER_SENT,
)


class Started(NamedTuple):
    """The answer to START TRANSACTION, and the node that gave it, which holds the transaction."""

    host: Any
    start_timestamp: int


class First:
    """The first statement of a transaction, which START TRANSACTION went with.

    host: the node that it was sent to, which holds the transaction.
    start_timestamp: when the transaction started, once the answer has come, if that tells.
    answered_at: of ``time.monotonic``, if it was not an error.
    """

    def __init__(self, host: Any, future: Any) -> None:
        self.host = host
        self.future = future
        self.start_timestamp: Optional[int] = None
        self.answered_at: Optional[float] = None
        future.add_callback(lambda _: self._look())

    def await_answer(self) -> None:
        self.future.result()
        self._look()

    def _look(self) -> None:
        if self.answered_at is not None:
            return
        told = (self.future.custom_payload or {}).get(START_TIMESTAMP_KEY)
        self.start_timestamp = None if told is None else int(told)
        # Its further pages are of this transaction, and must not begin another one in its place.
        self.future.message.custom_payload.pop(START_KEY, None)
        self.answered_at = time.monotonic()


class Requests:
    """Sends requests with the transaction's name on them, to one node, once."""

    def __init__(self, session: Any) -> None:
        self._session = session

    @property
    def encoder(self) -> Any:
        """Of values in the texts of statements."""
        return self._session.encoder

    def start(self, transaction: UUID, host: Any, cql: str) -> Started:
        """START TRANSACTION, on any node if none is given."""
        future = self.send(transaction, host, cql)
        row = _only_row(future.result(), cql)
        return Started(future.attempted_hosts[-1], row.start_timestamp)

    def send_first(
        self,
        transaction: UUID,
        start: str,
        statement: Union[str, Statement],
        parameters: Any = None,
        **options: Any,
    ) -> First:
        """A statement, and START TRANSACTION with it, to the first node that it can be sent to.

        The node is named, as further pages would go to any other otherwise.
        """
        if isinstance(statement, PreparedStatement):
            statement, parameters = statement.bind(parameters), None
        once = _sent_once(statement)
        payload = {START_KEY: start.encode("ascii")}
        errors: dict[Any, Exception] = {}
        for host in self._plan(once, options.get("execution_profile", EXEC_PROFILE_DEFAULT)):
            future = self._send(transaction, host, once, parameters, payload, **options)
            if future.attempted_hosts:
                return First(host, future)
            try:
                future.result()
            except NoHostAvailable as error:
                errors.update(error.errors)
            except Exception as error:
                errors[host] = error
        raise NoHostAvailable("START TRANSACTION could be sent to no node.", errors)

    def _plan(self, statement: Statement, profile: Any) -> Any:
        if not isinstance(profile, ExecutionProfile):
            profile = self._session.get_execution_profile(profile)
        keyspace = statement.keyspace or self._session.keyspace
        return profile.load_balancing_policy.make_query_plan(keyspace, statement)

    def end(self, transaction: UUID, host: Any, cql: str) -> Any:
        """COMMIT or ROLLBACK. Returns the row of the answer."""
        return _only_row(self.send(transaction, host, cql).result(), cql)

    def commit(
        self,
        transaction: UUID,
        host: Any,
        timeout_seconds: float,
        settled_start_timestamp: Optional[int],
        last_writes: Optional[BatchStatement] = None,
    ) -> Any:
        """COMMIT, after the last writes if there are some.

        With the start timestamp, the transaction is aborted if it is not decided.
        """
        more = {}
        if settled_start_timestamp is not None:
            more[START_TIMESTAMP_KEY] = str(settled_start_timestamp).encode("ascii")
        if last_writes is not None:
            more[COMMIT_KEY] = b"1"
        statement = "COMMIT" if last_writes is None else last_writes
        future = self._send(transaction, host, statement, None, more, timeout=timeout_seconds)
        return _only_row(future.result(), "COMMIT")

    def send(
        self,
        transaction: UUID,
        host: Any,
        statement: Union[str, Statement],
        parameters: Any = None,
        **options: Any,
    ) -> Any:
        """Returns the driver's future. Further pages go the same way, as the driver keeps both."""
        return self._send(transaction, host, statement, parameters, {}, **options)

    def _send(
        self,
        transaction: UUID,
        host: Any,
        statement: Union[str, Statement],
        parameters: Any,
        payload: dict[str, bytes],
        **options: Any,
    ) -> Any:
        return self._session.execute_async(
            _sent_once(statement),
            parameters,
            custom_payload={PAYLOAD_KEY: str(transaction).encode("ascii"), **payload},
            host=host,
            **options,
        )

    def is_reachable(self, host: Any) -> bool:
        """Whether the driver has a way to the node at the moment."""
        return any(pool.host == host and not pool.is_shutdown for pool in self._session.get_pools())

    def other_than(self, host: Any) -> Any:
        """Another node that can be reached, rather a near one; this one if there is none."""
        pools = [
            pool
            for pool in self._session.get_pools()
            if pool.host != host and not pool.is_shutdown and pool.host.is_up is not False
        ]
        random.shuffle(pools)
        return min(pools, key=lambda pool: int(pool.host_distance)).host if pools else host


def _sent_once(statement: Union[str, Statement]) -> Statement:
    """A copy that the driver neither retries nor speculates with: a copy could come late."""
    if isinstance(statement, str):
        return SimpleStatement(statement, retry_policy=FallthroughRetryPolicy())
    once = copy.copy(statement)
    once.retry_policy = FallthroughRetryPolicy()
    once.is_idempotent = False
    return once


def _only_row(result: Any, cql: str) -> Any:
    # By position, whatever row factory the session has: the first row as it came.
    names = result.column_names
    row = result.one()
    if row is None or names is None:
        raise RuntimeError(f"{cql} was answered without a row: is the plugin active on that node?")
    return _Row(dict(zip(names, row.values() if isinstance(row, dict) else row)))


class _Row:
    def __init__(self, values: dict[str, Any]) -> None:
        self.__dict__.update(values)


def before_commit(error: BaseException, transaction: UUID) -> BaseException:
    """The error as the application sees it, of a request before COMMIT: nothing is committed yet.

    Isolde's own errors and passing failures become an IsoldeError; everything else, such as a
    syntax error, stays what it is.
    """
    reported = reported_by_node(error)
    if reported is not None:
        named = named_after(reported, transaction)
        if named.code is ErrorCode.TRANSACTION_NOT_FOUND:
            # Its node restarted. The node can't know that no COMMIT was sent, but here it is known.
            named = not_committed(named)
        return named
    if not is_passing(error):
        return error
    failed = of_client(
        ErrorCode.REQUEST_FAILED,
        True,
        Outcome.NOT_COMMITTED,
        transaction,
        f"A request of the transaction failed before COMMIT was sent: {error}",
    )
    failed.__cause__ = error
    return failed


def reported_by_node(error: BaseException) -> Optional[IsoldeError]:
    """The error that a node of Isolde reported, if this is one."""
    for single in node_errors(error):
        found = single if isinstance(single, IsoldeError) else parse(single)
        if found is not None:
            found.__cause__ = found.__cause__ or error if found is not error else None
            return found
    return None


def named_after(error: IsoldeError, transaction: UUID) -> IsoldeError:
    """This error, naming the transaction if it did not so far."""
    if error.transaction_id is not None:
        return error
    return with_details(error, transaction=str(transaction))


def not_committed(error: IsoldeError) -> IsoldeError:
    """This error of a transaction of which it is known here that no COMMIT has arrived."""
    return with_details(error, retryable="true", outcome=Outcome.NOT_COMMITTED.value)


def is_passing(error: BaseException) -> bool:
    return all(isinstance(single, _PASSING) for single in node_errors(error))


def is_never_sent(error: BaseException) -> bool:
    return all(isinstance(single, _NEVER_SENT) for single in node_errors(error))


def node_errors(error: BaseException) -> list[BaseException]:
    """The errors of the single nodes; none if no node could be tried."""
    if isinstance(error, NoHostAvailable):
        return [each for each in error.errors.values() if isinstance(each, BaseException)]
    return [error]
