# SPDX-License-Identifier: Apache-2.0
"""What can go wrong: a closed set of exceptions, each with a code that is never renamed."""

from __future__ import annotations

import enum
import re
from typing import Iterator, Mapping, Optional, TypeVar
from urllib.parse import quote, unquote
from uuid import UUID

# Chains of causes longer than any real one, or with a circle, are cut off here.
_MAX_CAUSES = 64
_E = TypeVar("_E", bound=enum.Enum)
_AROUND = re.compile(r'Error from server: .*?message="(.*)"\s*', re.DOTALL)
_TRAILER = re.compile(r"\[isolde ([^\[\]]*)\]\s*$")


class ErrorCode(enum.Enum):
    """What happened. Whether a retry helps is said by the error itself, as the node knows better."""

    CONFLICT = "CONFLICT"
    CONFLICT_FORGOTTEN = "CONFLICT_FORGOTTEN"
    SNAPSHOT_TOO_OLD = "SNAPSHOT_TOO_OLD"
    AS_OF_TOO_OLD = "AS_OF_TOO_OLD"
    TRANSACTION_NOT_FOUND = "TRANSACTION_NOT_FOUND"
    TRANSACTION_EXPIRED = "TRANSACTION_EXPIRED"
    TRANSACTION_ABORTED = "TRANSACTION_ABORTED"
    TRANSACTION_ID_TAKEN = "TRANSACTION_ID_TAKEN"
    TRANSACTION_ID_REQUIRED = "TRANSACTION_ID_REQUIRED"
    TRANSACTION_ALREADY_OPEN = "TRANSACTION_ALREADY_OPEN"
    TRANSACTION_ROLLED_BACK = "TRANSACTION_ROLLED_BACK"
    PERMISSION_REVOKED = "PERMISSION_REVOKED"
    NO_TRANSACTION = "NO_TRANSACTION"
    TOO_MANY_TRANSACTIONS = "TOO_MANY_TRANSACTIONS"
    TRANSACTION_TOO_LARGE = "TRANSACTION_TOO_LARGE"
    SAVEPOINT_NOT_FOUND = "SAVEPOINT_NOT_FOUND"
    ROW_LOCKED = "ROW_LOCKED"
    TOO_MANY_WATCHES = "TOO_MANY_WATCHES"
    READ_ONLY_TRANSACTION = "READ_ONLY_TRANSACTION"
    NOT_TRANSACTIONAL = "NOT_TRANSACTIONAL"
    INVALID_REQUEST = "INVALID_REQUEST"
    CHANGE_FAILED = "CHANGE_FAILED"
    INVALID_TIMESTAMP = "INVALID_TIMESTAMP"
    UNSUPPORTED_COUNTER = "UNSUPPORTED_COUNTER"
    UNSUPPORTED_TIMESTAMP = "UNSUPPORTED_TIMESTAMP"
    UNSUPPORTED_DDL = "UNSUPPORTED_DDL"
    UNSUPPORTED_TRUNCATE = "UNSUPPORTED_TRUNCATE"
    UNSUPPORTED_INDEX_QUERY = "UNSUPPORTED_INDEX_QUERY"
    UNIQUE_VIOLATION = "UNIQUE_VIOLATION"
    UNSUPPORTED_UNIQUE_INDEX = "UNSUPPORTED_UNIQUE_INDEX"
    KEPT_BY_UNIQUE_INDEX = "KEPT_BY_UNIQUE_INDEX"
    UNSUPPORTED_TABLE = "UNSUPPORTED_TABLE"
    BATCH_SPANS_GROUPS = "BATCH_SPANS_GROUPS"
    NODE_WITHOUT_ISOLDE = "NODE_WITHOUT_ISOLDE"
    UNSUPPORTED_KEYSPACE = "UNSUPPORTED_KEYSPACE"
    UNAVAILABLE = "UNAVAILABLE"
    ORACLE_OVERLOADED = "ORACLE_OVERLOADED"
    ORACLE_UNAVAILABLE = "ORACLE_UNAVAILABLE"
    COORDINATOR_FENCED = "COORDINATOR_FENCED"
    SNAPSHOT_NOT_FOUND = "SNAPSHOT_NOT_FOUND"
    SNAPSHOT_EXISTS = "SNAPSHOT_EXISTS"
    SNAPSHOT_FAILED = "SNAPSHOT_FAILED"
    SNAPSHOT_UNAVAILABLE = "SNAPSHOT_UNAVAILABLE"
    SNAPSHOT_READ_ONLY = "SNAPSHOT_READ_ONLY"
    APPLY_PENDING = "APPLY_PENDING"
    OUTCOME_UNKNOWN = "OUTCOME_UNKNOWN"
    REQUEST_FAILED = "REQUEST_FAILED"
    """Made by this client: a request before COMMIT got no answer, or too few replicas did."""
    UNKNOWN = "UNKNOWN"
    """A code that this version of the client does not know; the details have its name."""


class Outcome(enum.Enum):
    """What is known about the fate of the transaction."""

    NOT_COMMITTED = "not_committed"
    """Nothing was written and nothing will be."""
    COMMITTED = "committed"
    """The commit is decided; running the work again would do it twice."""
    UNKNOWN = "unknown"
    """Look at the data before the work is repeated."""


class IsoldeError(Exception):
    """A transaction, or a statement of one, failed.

    Read ``outcome`` first (may the work have been done?), then ``retryable`` (may doing it again
    help?), then ``code`` and ``details`` (what happened, to which table, key and transaction).
    What is raised is one of the subclasses, by outcome.
    """

    code: ErrorCode
    outcome: Outcome
    retryable: bool
    details: Mapping[str, str]

    def __init__(self, message: str, details: Mapping[str, str]) -> None:
        super().__init__(message)
        self.details = dict(details)
        self.code = _member(ErrorCode, details.get("code"), ErrorCode.UNKNOWN)
        self.outcome = _member(Outcome, details.get("outcome"), Outcome.UNKNOWN)
        self.retryable = details.get("retryable") == "true"

    @property
    def transaction_id(self) -> Optional[UUID]:
        """The transaction that failed, if the error names one."""
        try:
            return UUID(self.details["transaction"])
        except (KeyError, ValueError):
            return None

    @property
    def is_safe_to_run_again(self) -> bool:
        """True if running the work again can't do it twice, and may help."""
        return self.retryable and self.outcome is Outcome.NOT_COMMITTED

    @staticmethod
    def find(error: Optional[BaseException]) -> Optional[IsoldeError]:
        """What Isolde said in an error of the driver, or in one of its causes."""
        for link in causes(error):
            found = link if isinstance(link, IsoldeError) else parse(link)
            if found is not None:
                return found
        return None

    def __reduce__(self) -> tuple[object, ...]:
        return make, (str(self), self.details)


class NotCommittedError(IsoldeError):
    """Nothing was written and nothing will be."""


class ConflictError(NotCommittedError):
    """Another transaction has changed what this one read, or wrote; run it again."""


class CommitPendingError(IsoldeError):
    """Committed, and visible before long: do not run the work again."""


class OutcomeUnknownError(IsoldeError):
    """It could not be found out whether the transaction is committed."""


def make(message: str, details: Mapping[str, str]) -> IsoldeError:
    """The exception for these details."""
    outcome = _member(Outcome, details.get("outcome"), Outcome.UNKNOWN)
    if outcome is Outcome.COMMITTED:
        return CommitPendingError(message, details)
    if outcome is Outcome.UNKNOWN:
        return OutcomeUnknownError(message, details)
    if details.get("code") in ("CONFLICT", "CONFLICT_FORGOTTEN"):
        return ConflictError(message, details)
    return NotCommittedError(message, details)


def of_client(
    code: ErrorCode, retryable: bool, outcome: Outcome, transaction: UUID, sentence: str
) -> IsoldeError:
    """An error that this client found out itself, in the form in which a node would report it."""
    details = {
        "code": code.value,
        "retryable": str(retryable).lower(),
        "outcome": outcome.value,
        "transaction": str(transaction),
    }
    trailer = " ".join(f"{name}={quote(value, safe='-_.')}" for name, value in details.items())
    return make(f"{sentence} [isolde {trailer}]", details)


def parse(error: BaseException) -> Optional[IsoldeError]:
    """The error that a node reported in the trailer of its message; None if there is none."""
    message = _text(error)
    match = _TRAILER.search(message)
    if match is None:
        return None
    details: dict[str, str] = {}
    for entry in match.group(1).split(" "):
        name, equals, value = entry.partition("=")
        if name and equals:
            details.setdefault(name, unquote(value))
    return make(message, details) if "code" in details else None


def with_details(error: IsoldeError, **more: str) -> IsoldeError:
    """A copy of the error with these details instead of its own."""
    copy = make(str(error), {**error.details, **more})
    copy.__cause__ = error.__cause__ or error
    return copy


def causes(error: Optional[BaseException]) -> Iterator[BaseException]:
    """The error, its cause, the cause of that, and so on."""
    for _ in range(_MAX_CAUSES):
        if error is None:
            return
        yield error
        error = error.__cause__ or error.__context__


def _text(error: BaseException) -> str:
    """What the node said, without the words that the driver puts around it."""
    match = _AROUND.fullmatch(str(error))
    return match.group(1) if match else str(error)


def _member(kind: type[_E], value: Optional[str], default: _E) -> _E:
    try:
        return kind(value)
    except ValueError:
        return default

