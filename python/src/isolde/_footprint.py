# SPDX-License-Identifier: Apache-2.0
"""Where a statement reads or writes, as far as that can be told without asking a node."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Optional

from cassandra.query import BoundStatement

# Whose values, if they differ as bytes, are different keys. Of sets and maps they need not be, as
# Cassandra sorts these.
_SIMPLE = frozenset(
    "ascii bigint blob boolean date decimal double float inet int smallint text time timestamp "
    "timeuuid tinyint uuid varchar varint".split()
)

_SELECT = re.compile(r"\s*SELECT\b", re.IGNORECASE)

# Then a variable that counts as the key's may be something else. Cassandra does not look at the
# relation: a IN (?, 7), a > ? ALLOW FILTERING. And where it names no key, the driver looks for
# variables of that name: token(a) > :a.
_KEY_IS_NOT_SURE = re.compile(r"\b(IN|ALLOW|BETWEEN|TOKEN)\b|:", re.IGNORECASE)


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
        if self.table != other.table or self.key is None or other.key is None:
            return self.table == other.table
        # Keys of different lengths: the table was dropped and created again.
        return len(self.key) != len(other.key) or self.key == other.key


ANYWHERE = Footprint()


def of_read(statement: Any) -> Footprint:
    """Of a bound statement that only reads; anywhere if it is not known to do that."""
    if not isinstance(statement, BoundStatement):
        return ANYWHERE
    prepared = statement.prepared_statement
    return _of(statement, prepared.result_metadata) if _is_select(prepared) else ANYWHERE


def of_write(statement: Any) -> Footprint:
    if not isinstance(statement, BoundStatement):
        return ANYWHERE
    return _of(statement, statement.prepared_statement.column_metadata)


def _is_select(prepared: Any) -> bool:
    return _SELECT.match(prepared.query_string) is not None


def _of(bound: BoundStatement, columns: Any) -> Footprint:
    """Where it is, if these columns of it are all of its table."""
    if not columns:
        return ANYWHERE
    keyspace, table = columns[0][:2]
    return Footprint((keyspace, table), _key(bound))


def _key(bound: BoundStatement) -> Optional[tuple[bytes, ...]]:
    prepared = bound.prepared_statement
    indexes = prepared.routing_key_indexes
    if not indexes or _KEY_IS_NOT_SURE.search(prepared.query_string):
        return None
    if any(prepared.column_metadata[index].type.typename not in _SIMPLE for index in indexes):
        return None
    values = [bound.values[index] for index in indexes if index < len(bound.values)]
    known = [value for value in values if isinstance(value, bytes)]
    return tuple(known) if len(known) == len(indexes) else None
