# SPDX-License-Identifier: Apache-2.0
"""Nodes that answer as they are told, and write down what they were sent."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, Optional
from uuid import UUID

from cassandra import InvalidRequest, OperationTimedOut

from isolde._requests import Requests, Started


def refusal(code: str, retryable: bool, outcome: str, **details: str) -> InvalidRequest:
    more = "".join(f" {name}={value}" for name, value in details.items())
    flag = str(retryable).lower()
    message = f"It did not work. [isolde code={code} retryable={flag} outcome={outcome}{more}]"
    return InvalidRequest(f'Error from server: code=2200 [Invalid query] message="{message}"')


def conflict() -> InvalidRequest:
    return refusal("CONFLICT", True, "not_committed", table="bank.accounts", key="a%20b")


def not_found() -> InvalidRequest:
    return refusal("TRANSACTION_NOT_FOUND", False, "unknown")


def timeout() -> OperationTimedOut:
    return OperationTimedOut({}, None)


class FakeRequests(Requests):
    def __init__(self) -> None:
        super().__init__(session=None)
        self.transcript: list[str] = []
        self.hosts: list[str] = []
        self._failures: dict[str, list[BaseException]] = {}

    def failing(self, word: str, *errors: BaseException) -> None:
        self._failures.setdefault(word, []).extend(errors)

    def start(self, transaction: UUID, cql: str) -> Started:
        self._note("START", None)
        return Started("node-1", 7)

    def end(self, transaction: UUID, host: Any, cql: str) -> Any:
        self._note(cql, host)
        return SimpleNamespace(committed=cql == "COMMIT", commit_timestamp=42)

    def commit(
        self,
        transaction: UUID,
        host: Any,
        timeout_seconds: float,
        settled_start_timestamp: Optional[int],
    ) -> Any:
        self._note("COMMIT" if settled_start_timestamp is None else "SETTLE", host)
        return SimpleNamespace(committed=True, commit_timestamp=42)

    def send(
        self,
        transaction: UUID,
        host: Any,
        statement: Any,
        parameters: Any = None,
        **options: Any,
    ) -> Any:
        try:
            self._note(str(statement).split(" ")[0], host)
        except Exception as error:
            return FakeFuture(error)
        return FakeFuture(None)

    def is_reachable(self, host: Any) -> bool:
        return True

    def other_than(self, host: Any) -> Any:
        return "node-2"

    def _note(self, word: str, host: Any) -> None:
        self.transcript.append(word)
        self.hosts.append(host)
        failures = self._failures.get(word)
        if failures:
            raise failures.pop(0)


class FakeFuture:
    has_more_pages = False
    _col_names: list[str] = []
    _col_types: list[str] = []

    def __init__(self, error: Optional[Exception]) -> None:
        self._error = error

    def result(self) -> Any:
        if self._error is not None:
            raise self._error
        return SimpleNamespace(response_future=self, current_rows=[])
