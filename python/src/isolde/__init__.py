# SPDX-License-Identifier: Apache-2.0
"""Transactions on stock Apache Cassandra with Isolde, over cassandra-driver::

    with isolde.transaction(session) as tx:
        tx.execute("UPDATE bank.accounts SET balance = %s WHERE id = %s", (40, 7))

``run`` and ``transactional`` run a function again after a conflict.
"""

from isolde.client import Isolde, run, transaction, transactional
from isolde.configuration import ClusterConfiguration, ConfiguredGroup, ConfiguredNode
from isolde.errors import (
    CommitPendingError,
    ConflictError,
    ErrorCode,
    IsoldeError,
    NotCommittedError,
    Outcome,
    OutcomeUnknownError,
)
from isolde.options import IsolationLevel, TransactionOptions
from isolde.transaction import CommitResult, Savepoint, Transaction, TransactionRows
from isolde.push import Push
from isolde.watch import Change, Lost, Watch

__all__ = [
    "Change",
    "ClusterConfiguration",
    "CommitPendingError",
    "CommitResult",
    "ConfiguredGroup",
    "ConfiguredNode",
    "ConflictError",
    "ErrorCode",
    "IsolationLevel",
    "Isolde",
    "IsoldeError",
    "Lost",
    "NotCommittedError",
    "Outcome",
    "OutcomeUnknownError",
    "Push",
    "Savepoint",
    "Transaction",
    "TransactionOptions",
    "TransactionRows",
    "Watch",
    "run",
    "transaction",
    "transactional",
]
