# SPDX-License-Identifier: Apache-2.0
"""Where a statement reads or writes, as far as that can be told without asking a node."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Optional

from cassandra.query import BoundStatement

# Then a value for a key's column may be one of several: IN (?, 7).
_IN = re.compile(r"\bIN\b", re.IGNORECASE)


@dataclass(frozen=True)
class Footprint:
    """The table of a statement, and its partition; None where it may be any.

    Whoever is not sure that two statements are of different rows takes them to be of the same.
    """

    table: Optional[tuple[str, str]] = None
    key: Optional[tuple[bytes, ...]] = None

    def may_overlap(self, other: Footprint) -> bool:
        """False only if no row is in both."""
        if self.table is None or other.table is None:
            return True
        return self.table == other.table and (
            self.key is None or other.key is None or self.key == other.key
        )


ANYWHERE = Footprint()


def of_read(statement: Any) -> Footprint:
    """Of a bound statement that only reads; anywhere if it is not known to do that."""
    if not isinstance(statement, BoundStatement):
        return ANYWHERE
    return _of(statement, statement.prepared_statement.result_metadata)


def of_write(statement: Any) -> Footprint:
    if not isinstance(statement, BoundStatement):
        return ANYWHERE
    return _of(statement, statement.prepared_statement.column_metadata)


def _of(bound: BoundStatement, columns: Any) -> Footprint:
    """Where it is, if these columns of it are all of its table."""
    if not columns:
        return ANYWHERE
    keyspace, table = columns[0][:2]
    return Footprint((keyspace, table), _key(bound))


def _key(bound: BoundStatement) -> Optional[tuple[bytes, ...]]:
    indexes = bound.prepared_statement.routing_key_indexes
    if not indexes or _IN.search(bound.prepared_statement.query_string):
        return None
    values = [bound.values[index] for index in indexes if index < len(bound.values)]
    known = [value for value in values if isinstance(value, bytes)]
    return tuple(known) if len(known) == len(indexes) else None
