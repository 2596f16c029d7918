# SPDX-License-Identifier: Apache-2.0
"""Finds out how a COMMIT ended whose answer was an error or got lost."""

from __future__ import annotations

import sys
from typing import NamedTuple, Optional
from uuid import UUID

from isolde._requests import (
    WRONG_IN_ITSELF,
    is_never_sent,
    named_after,
    not_committed,
    reported_by_node,
)
from isolde.errors import ErrorCode, IsoldeError, Outcome, of_client
from isolde.options import TransactionOptions


class Step(NamedTuple):
    """Repeat COMMIT after the pause, or raise the error if there is no pause."""

    pause_seconds: Optional[float]
    error: BaseException


class CommitResolution:
    """Decides after each failed COMMIT; does no input or output.

    The oracle remembers how transactions were decided, so COMMIT repeated gives the same answer, on
    the node that holds the transaction and, once it is decided, on every other. What must never
    happen is to report "not committed" for a transaction that did commit. Hence the one thing
    remembered here: once a COMMIT may have arrived, a node that does not know the transaction
    proves nothing, as its holder may yet get it decided, or have committed and forgotten.
    """

    def __init__(
        self,
        transaction: UUID,
        options: TransactionOptions,
        may_have_arrived: bool,
        has_writes: bool,
    ) -> None:
        self._transaction = transaction
        self._options = options
        self._may_have_arrived = may_have_arrived
        # COMMIT comes with the last writes, and may be refused because of them.
        self._has_writes = has_writes
        self._failed_attempts = 0
        self._is_to_be_settled = False
        # The report that the commit is decided, if there was one; nothing later takes it back.
        self._committed: Optional[IsoldeError] = None

    @property
    def is_to_be_settled(self) -> bool:
        """Whether the next COMMIT is to have the transaction aborted if it is not decided.

        Not at once, as its holder may be about to get it decided: after half of the time. But never
        not at all, as otherwise nobody might ever know: if time is over before, then once after it.
        """
        return self._is_to_be_settled

    @property
    def is_elsewhere(self) -> bool:
        """Whether the next COMMIT goes to another node: its holder may be dead, or frozen."""
        return self._failed_attempts % 2 == 1

    def after_failure(self, error: BaseException, elapsed_seconds: float, jitter: float) -> Step:
        self._failed_attempts += 1
        is_final, seen = self._judge(error)
        pause = None if is_final else self._pause(elapsed_seconds, jitter)
        return Step(pause, self._committed or seen)

    def _pause(self, elapsed_seconds: float, jitter: float) -> Optional[float]:
        pause = self._options.pause_after(
            self._failed_attempts, elapsed_seconds, jitter, sys.maxsize
        )
        if pause is None and not self._is_to_be_settled and self._committed is None:
            pause = 0.0
        if pause is not None:
            half = self._options.time_limit_seconds / 2
            self._is_to_be_settled = elapsed_seconds + pause >= half
        return pause

    def _judge(self, error: BaseException) -> tuple[bool, BaseException]:
        """Whether this is the end, and the error to raise if so, or if time is over."""
        reported = reported_by_node(error)
        if reported is not None:
            return self._judge_report(named_after(reported, self._transaction))
        if not self._may_have_arrived:
            if is_never_sent(error):
                return True, self._request_failed(error)
            if isinstance(error, WRONG_IN_ITSELF):
                return True, error
        self._may_have_arrived = True
        return False, self._unknown(error)

    def _judge_report(self, report: IsoldeError) -> tuple[bool, BaseException]:
        if report.code in (ErrorCode.TRANSACTION_NOT_FOUND, ErrorCode.NO_TRANSACTION):
            # Only COMMIT commits: where none has arrived, whatever became of it is not that.
            if self._may_have_arrived:
                return False, self._unknown(report)
            return True, not_committed(report)
        if report.outcome is Outcome.NOT_COMMITTED:
            if self._may_have_arrived and not self._tells_of_all_commits(report.code):
                return False, self._unknown(report)
            return True, report
        self._may_have_arrived = True
        if report.outcome is Outcome.COMMITTED:
            self._committed = report
            return False, report
        return False, self._unknown(report)

    def _tells_of_all_commits(self, code: ErrorCode) -> bool:
        """Whether this refusal says something about a COMMIT before, too."""
        if self._has_writes:
            # The writes may be refused before anyone looks whether they are committed already.
            return code in (
                ErrorCode.CONFLICT,
                ErrorCode.CONFLICT_FORGOTTEN,
                ErrorCode.TRANSACTION_ROLLED_BACK,
            )
        # The oracle could not be asked.
        return code not in (ErrorCode.ORACLE_UNAVAILABLE, ErrorCode.ORACLE_OVERLOADED)

    def _request_failed(self, cause: BaseException) -> IsoldeError:
        failed = of_client(
            ErrorCode.REQUEST_FAILED,
            True,
            Outcome.NOT_COMMITTED,
            self._transaction,
            f"COMMIT could not be sent: {cause}",
        )
        failed.__cause__ = cause
        return failed

    def _unknown(self, cause: BaseException) -> IsoldeError:
        unknown = of_client(
            ErrorCode.OUTCOME_UNKNOWN,
            False,
            Outcome.UNKNOWN,
            self._transaction,
            "COMMIT was sent, but no node could tell how it ended "
            f"(attempts: {self._failed_attempts}, last answer: {cause}).",
        )
        unknown.__cause__ = cause
        return unknown
