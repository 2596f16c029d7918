# SPDX-License-Identifier: Apache-2.0
"""Nodes that answer as they are told, and write down what they were sent."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, Callable, Optional
from uuid import UUID

from cassandra import InvalidRequest, OperationTimedOut
from cassandra.encoder import Encoder
from cassandra.query import BatchStatement

from isolde._requests import START_KEY, START_TIMESTAMP_KEY, First, Requests, Started


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
        self.batches: list[list[str]] = []
        # Whether answers have warnings, and then no payload.
        self.warns = False
        self._failures: dict[str, list[BaseException]] = {}

    def failing(self, word: str, *errors: BaseException) -> None:
        self._failures.setdefault(word, []).extend(errors)

    @property
    def encoder(self) -> Any:
        return Encoder()

    def start(self, transaction: UUID, host: Any, cql: str) -> Started:
        self._note("START", host)
        return Started("node-1", 7)

    def send_first(
        self,
        transaction: UUID,
        start: str,
        statement: Any,
        parameters: Any = None,
        **options: Any,
    ) -> First:
        future = self._sent(f"START+{self._word(statement)}", "node-1")
        if not self.warns:
            future.custom_payload[START_TIMESTAMP_KEY] = b"7"
        return First("node-1", future)

    def end(self, transaction: UUID, host: Any, cql: str) -> Any:
        self._note(cql, host)
        return SimpleNamespace(committed=cql == "COMMIT", commit_timestamp=42)

    def commit(
        self,
        transaction: UUID,
        host: Any,
        timeout_seconds: float,
        settled_start_timestamp: Optional[int],
        last_writes: Optional[BatchStatement] = None,
    ) -> Any:
        word = "COMMIT" if settled_start_timestamp is None else "SETTLE"
        if last_writes is not None:
            word = f"{self._word(last_writes)}+{word}"
        self._note(word, host)
        return SimpleNamespace(committed=True, commit_timestamp=42)

    def send(
        self,
        transaction: UUID,
        host: Any,
        statement: Any,
        parameters: Any = None,
        **options: Any,
    ) -> Any:
        return self._sent(self._word(statement), host)

    def is_reachable(self, host: Any) -> bool:
        return True

    def other_than(self, host: Any) -> Any:
        return "node-2"

    def _word(self, statement: Any) -> str:
        if isinstance(statement, BatchStatement):
            self.batches.append([text for _, text, _ in statement._statements_and_parameters])
            return "BATCH"
        return str(statement).split(" ")[0]

    def _sent(self, word: str, host: Any) -> FakeFuture:
        try:
            self._note(word, host)
        except Exception as error:
            return FakeFuture(error)
        return FakeFuture(None)

    def _note(self, word: str, host: Any) -> None:
        self.transcript.append(word)
        self.hosts.append(host)
        failures = self._failures.get(word) or self._failures.get(word.replace("START+", ""))
        if failures:
            raise failures.pop(0)


class FakeFuture:
    has_more_pages = False
    _col_names: list[str] = []
    _col_types: list[str] = []

    def __init__(self, error: Optional[Exception]) -> None:
        self._error = error
        self.custom_payload: dict[str, bytes] = {}
        self.message = SimpleNamespace(custom_payload={START_KEY: b"START TRANSACTION"})

    def add_callback(self, callback: Callable[[Any], None]) -> None:
        pass  # As if the answer were looked at first.

    def result(self) -> Any:
        if self._error is not None:
            raise self._error
        return SimpleNamespace(response_future=self, current_rows=[])
