# SPDX-License-Identifier: Apache-2.0
"""Writes that wait for the request which they can go with."""

from __future__ import annotations

import re
from typing import Any, Union

from cassandra.query import (
    BatchStatement,
    BatchType,
    BoundStatement,
    PreparedStatement,
    SimpleStatement,
    Statement,
    bind_params,
)

from isolde._footprint import ANYWHERE, Footprint, of_read, of_write

_QUOTED = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|\$\$.*?\$\$", re.DOTALL)
_IF = re.compile(r"\bIF\b", re.IGNORECASE)

# More would make one request that takes long; fewer, requests that could have been saved.
MAX_STATEMENTS = 100
MAX_BYTES = 1 << 20


class HeldWrites:
    """The statements in their order, with the values that they had when they were added."""

    def __init__(self, encoder: Any) -> None:
        self._encoder = encoder
        self._bytes = 0
        self._footprints: set[Footprint] = set()
        self.batch = BatchStatement(BatchType.UNLOGGED)

    @property
    def is_full(self) -> bool:
        return len(self.batch) >= MAX_STATEMENTS or self._bytes >= MAX_BYTES

    def add(self, statement: Union[str, Statement], parameters: Any) -> None:
        if _IF.search(_QUOTED.sub("", _text_of(statement))):
            raise ValueError(
                "write does not take a statement with IF, whose answer says whether it was applied: "
                "use execute."
            )
        if isinstance(statement, (str, SimpleStatement)):
            text = self._text(statement, parameters)
            self._footprints.add(ANYWHERE)
            self.batch.add(text)
            self._bytes += len(text.encode("utf-8"))
        else:
            bound = _bound(statement, parameters)
            self._footprints.add(of_write(bound))
            self.batch.add(bound)
            self._bytes += sum(len(value) for value in bound.values if isinstance(value, bytes))
        # That of the first prepared statement, which the node would take for that of all others.
        self.batch.keyspace = None
        self.batch.routing_key = None

    def may_be_seen_by(self, statement: Any) -> bool:
        """Also true of a statement that is perhaps no read."""
        read = of_read(statement)
        return any(read.may_overlap(written) for written in self._footprints)

    def _text(self, statement: Union[str, Statement], parameters: Any) -> str:
        if isinstance(statement, str):
            text = statement
        elif statement.keyspace:
            raise ValueError(
                "write does not take a statement with a keyspace of its own, as a batch has one for "
                "all: name the keyspace in the text, or use execute."
            )
        else:
            text = statement.query_string
        return str(bind_params(text, parameters, self._encoder)) if parameters else text


def _bound(statement: Any, parameters: Any) -> BoundStatement:
    if isinstance(statement, PreparedStatement):
        return statement.bind(() if parameters is None else parameters)
    if not isinstance(statement, BoundStatement):
        raise TypeError(
            f"write takes a string, or a simple, prepared or bound statement, but not a "
            f"{type(statement).__name__}: use execute."
        )
    if parameters:
        raise ValueError("write takes no parameters with a bound statement, as it has them.")
    return statement


def _text_of(statement: Union[str, Statement]) -> str:
    """The text of a statement; empty if it is of an unknown kind."""
    if isinstance(statement, BoundStatement):
        statement = statement.prepared_statement
    return statement if isinstance(statement, str) else str(getattr(statement, "query_string", ""))
