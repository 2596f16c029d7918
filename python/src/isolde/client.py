# SPDX-License-Identifier: Apache-2.0
"""Transactions over a session of the driver."""

from __future__ import annotations

import functools
import random
import sys
import time
from typing import Any, Callable, Optional, Sequence, TypeVar, Union

from cassandra.cluster import Session

from isolde._requests import Requests
from isolde._turns import turns_of
from isolde.configuration import ClusterConfiguration
from isolde.configuration import read as read_configuration
from isolde.errors import ErrorCode, IsoldeError, causes, with_details
from isolde.options import TransactionOptions
from isolde.push import Push, PushedWatch
from isolde.transaction import Transaction
from isolde.watch import Watch

if sys.version_info >= (3, 10):
    from typing import Concatenate, ParamSpec
else:
    from typing_extensions import Concatenate, ParamSpec

P = ParamSpec("P")
T = TypeVar("T")

_DEFAULTS = TransactionOptions()


class Isolde:
    """Transactions over a session, which stays the caller's. Safe for use by all threads."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._requests = Requests(session)
        self._turns = turns_of(session)

    def begin(self, options: TransactionOptions = _DEFAULTS) -> Transaction:
        """Begins a transaction that the caller commits or rolls back; nothing is run again.

        It starts at once, so that its start timestamp is known.
        """
        tx = Transaction(self._requests, options)
        tx._start()
        return tx

    def transaction(self, options: TransactionOptions = _DEFAULTS) -> Transaction:
        """A transaction for a ``with`` block: committed at its end, rolled back by an exception.

        It starts with its first statement, in the same request.
        A block can't be run again: a conflict reaches the caller as ConflictError. ``run`` retries.
        """
        return Transaction(self._requests, options)

    def watch(
        self,
        select: str,
        values: Sequence[Any] = (),
        after: Optional[int] = None,
        push: Optional[Push] = None,
    ) -> Watch:
        """Watches what a SELECT reads::

            for event in isolde.watch("SELECT CHANGES FROM bank.accounts WHERE id = ?", [7]): ...

        It starts after a timestamp, such as the start timestamp of the transaction that has read
        what is watched, so that nothing is missed; or now. With ``push`` a node sends the changes
        by itself, if it has a port for that.
        """
        if push is not None:
            return PushedWatch(push, self._session, select, values, after)
        return Watch(self._session, select, values, after)

    def configuration(self) -> ClusterConfiguration:
        """Nodes, replica groups and their leaders: the newest ones of a moment during the call.

        All are of one version, whichever node answers. The user needs SELECT on ``isolde.ring`` and
        ``isolde.groups``.
        """
        return read_configuration(self._session)

    def run(
        self, function: Callable[[Transaction], T], options: TransactionOptions = _DEFAULTS
    ) -> T:
        """Calls the function, commits, and returns what the function returned.

        The transaction starts with its first statement, in the same request.

        **The function may run more than once.** When the transaction failed without committing and
        a retry may help, for example after a conflict, all of it is done again in a new transaction
        after a random pause, within the limits of the options; after a conflict those who had one over
        the same row, in this session, run again one after the other. Never is it run again when the
        transaction committed or may have committed. What the function raises is raised, unless an error of this very
        transaction that may be retried is among its causes.
        """
        begun = time.monotonic()
        row: Optional[str] = None
        for attempt in range(1, options.max_attempts + 1):
            tx = Transaction(self._requests, options)
            seconds_left = options.time_limit_seconds - (time.monotonic() - begun)
            try:
                with self._turns.turn(row, seconds_left):
                    value = function(tx)
                    if tx.is_open:
                        tx.commit()
                    return value
            except BaseException as error:
                tx.rollback()
                pause = _pause(tx, error, options, attempt, time.monotonic() - begun)
                if pause is None:
                    if isinstance(error, IsoldeError) and _is_of(tx, error):
                        raise with_details(error, attempts=str(attempt)) from error.__cause__
                    raise
                row = _contended_row(tx, error)
            time.sleep(pause)
        raise AssertionError("The last attempt returns or raises.")


def _pause(
    tx: Transaction,
    error: BaseException,
    options: TransactionOptions,
    attempt: int,
    elapsed_seconds: float,
) -> Optional[float]:
    """Before another attempt; None if there should be none."""
    if tx._may_have_committed:
        return None
    if not isinstance(error, Exception):
        return None  # The program is told to stop.
    for link in causes(error):
        if isinstance(link, IsoldeError) and _is_of(tx, link):
            if not link.is_safe_to_run_again:
                return None
            return options.pause_after(
                attempt, elapsed_seconds, random.random(), options.max_attempts
            )
    return None


def _contended_row(tx: Transaction, error: BaseException) -> Optional[str]:
    """The row that another transaction was quicker with, if it was a conflict over one."""
    for link in causes(error):
        if isinstance(link, IsoldeError) and _is_of(tx, link):
            is_of_row = link.code is ErrorCode.CONFLICT and {"table", "key"} <= link.details.keys()
            return f"{link.details['table']} {link.details['key']}" if is_of_row else None
    return None


def _is_of(tx: Transaction, error: IsoldeError) -> bool:
    """Another transaction's error is none of ours: who ran that one has retried it."""
    return error.transaction_id == tx.id


def transaction(session: Session, options: TransactionOptions = _DEFAULTS) -> Transaction:
    """A transaction for a ``with`` block; see ``Isolde.transaction``."""
    return Isolde(session).transaction(options)


def run(
    session: Session,
    function: Callable[[Transaction], T],
    options: TransactionOptions = _DEFAULTS,
) -> T:
    """Runs a function in a transaction, again if need be; see ``Isolde.run``."""
    return Isolde(session).run(function, options)


_Where = Union[Session, Isolde, Transaction]


def transactional(
    options: TransactionOptions = _DEFAULTS,
) -> Callable[[Callable[Concatenate[Transaction, P], T]], Callable[Concatenate[Any, P], T]]:
    """Makes a function run in a transaction, again if need be::

        @isolde.transactional()
        def transfer(tx, source, target, amount): ...

        transfer(session, 7, 8, 100)

    Its first parameter is the transaction; callers pass a session (or an ``Isolde``) in its place.
    Called with an open transaction it takes part in that one, which its owner commits or retries.
    """

    def decorate(
        function: Callable[Concatenate[Transaction, P], T],
    ) -> Callable[Concatenate[Any, P], T]:
        @functools.wraps(function)
        def wrapper(where: _Where, /, *args: P.args, **kwargs: P.kwargs) -> T:
            if isinstance(where, Transaction):
                return function(where, *args, **kwargs)
            runner = where if isinstance(where, Isolde) else Isolde(where)
            return runner.run(lambda tx: function(tx, *args, **kwargs), options)

        return wrapper

    return decorate
