# SPDX-License-Identifier: Apache-2.0
"""How a transaction is to be run."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Optional


class IsolationLevel(enum.Enum):
    """What a transaction is protected from; see docs/guarantees.md of Isolde."""

    SERIALIZABLE = "SERIALIZABLE"
    SNAPSHOT = "SNAPSHOT"


@dataclass(frozen=True)
class TransactionOptions:
    """How a transaction is to be run. Immutable.

    isolation_level: SNAPSHOT aborts less often, but lets two transactions each write what the other
        one read (write skew).
    read_only: such a transaction can't conflict. True with as_of_micros.
    as_of_micros: read the data as it was then, in microseconds since 1970. Too small:
        AS_OF_TOO_OLD. In the future: INVALID_TIMESTAMP.
    max_attempts: how often a function runs at most. Too small: conflicts on busy rows reach the
        application. Too big: a row that everyone writes is fought over for the whole time limit.
    time_limit_seconds: how long after the first begin another attempt may start; the same time
        again, and one request more at the end, is given to a COMMIT whose answer was lost. Too small: a change of the oracle's leader
        reaches the application. Too big: callers wait long when a node is gone.
    backoff_base_seconds, backoff_cap_seconds: the pause before another attempt is random, up to
        base, doubled with each attempt up to cap.
    """

    isolation_level: IsolationLevel = IsolationLevel.SERIALIZABLE
    read_only: bool = False
    as_of_micros: Optional[int] = None
    max_attempts: int = 20
    time_limit_seconds: float = 10.0
    backoff_base_seconds: float = 0.005
    backoff_cap_seconds: float = 0.5

    def __post_init__(self) -> None:
        if self.as_of_micros is not None:
            object.__setattr__(self, "read_only", True)
            if self.as_of_micros < 0:
                raise ValueError(f"as_of_micros is {self.as_of_micros}, before 1970.")
        if self.max_attempts < 1:
            raise ValueError(f"max_attempts is {self.max_attempts}, but at least 1 is needed.")
        if self.time_limit_seconds <= 0:
            raise ValueError(f"time_limit_seconds is {self.time_limit_seconds}, not above 0.")
        if not 0 < self.backoff_base_seconds <= self.backoff_cap_seconds:
            raise ValueError(
                f"backoff_base_seconds is {self.backoff_base_seconds} and backoff_cap_seconds is "
                f"{self.backoff_cap_seconds}, but the base must be above 0 and at most the cap."
            )

    @staticmethod
    def reading() -> TransactionOptions:
        """Defaults, but read only."""
        return TransactionOptions(read_only=True)

    @staticmethod
    def as_of(micros: int) -> TransactionOptions:
        """Defaults, but reading the data as it was at the timestamp."""
        return TransactionOptions(as_of_micros=micros)

    @property
    def start_statement(self) -> str:
        """The statement that starts such a transaction."""
        cql = f"START TRANSACTION ISOLATION LEVEL {self.isolation_level.value}"
        if self.read_only:
            cql += " READ ONLY"
        if self.as_of_micros is not None:
            cql += f" AS OF {self.as_of_micros}"
        return cql

    def pause_after(
        self, failed_attempts: int, elapsed_seconds: float, jitter: float, max_attempts: int
    ) -> Optional[float]:
        """The pause before another attempt in seconds; None if there should be none.

        Exponential back-off with full jitter: those who conflicted once should not meet again.
        """
        # 2 ** 60 is beyond every cap, and more would not fit a float one day.
        bound = self.backoff_base_seconds * 2 ** min(failed_attempts - 1, 60)
        pause = jitter * min(self.backoff_cap_seconds, bound)
        is_over = failed_attempts >= max_attempts
        return None if is_over or elapsed_seconds + pause >= self.time_limit_seconds else pause
