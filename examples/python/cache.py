# SPDX-License-Identifier: Apache-2.0
"""A cache of rows that a watch keeps right: readers of the cache ask no node."""

from __future__ import annotations

import os
import threading

from cassandra.cluster import Cluster, Session

import isolde

_TABLE = "shop_python.prices"


class Cache:
    """Prices by item, as of the last change of the table that this has heard of.

    A reader who knows of a change says so: with its timestamp he gets nothing older.
    """

    def __init__(self, session: Session) -> None:
        self._isolde = isolde.Isolde(session)
        self._changed = threading.Condition()
        self._prices: dict[str, int | None] = {}
        # Before anything is read, so that nothing is missed.
        now = f"SELECT CHANGES FROM {_TABLE} AFTER NOW WITHIN 0 MILLISECONDS"
        self._as_of = session.execute(now).one().timestamp
        self._is_following = True
        self.reads = 0
        watch = self._isolde.watch(f"SELECT CHANGES FROM {_TABLE}", after=self._as_of)
        threading.Thread(target=self._follow, args=(watch,), daemon=True).start()

    def _follow(self, watch: isolde.Watch) -> None:
        try:
            for event in watch:  # One that is lost empties the cache, too.
                with self._changed:
                    self._prices.clear()
                    self._as_of = event.timestamp
                    self._changed.notify_all()
        finally:  # The watch has failed for good. From now on each price is read.
            with self._changed:
                self._is_following = False
                self._prices.clear()
                self._changed.notify_all()

    def price(self, item: str, not_before: int = 0) -> int | None:
        with self._changed:
            if not self._changed.wait_for(lambda: self._knows(not_before), timeout=10):
                raise TimeoutError("The watch is late.")
            if item in self._prices:
                return self._prices[item]
        return self._read(item)

    def _knows(self, not_before: int) -> bool:
        return self._as_of >= not_before or not self._is_following

    def _read(self, item: str) -> int | None:
        self.reads += 1
        with self._isolde.transaction(isolde.TransactionOptions(read_only=True)) as tx:
            row = tx.execute(f"SELECT price FROM {_TABLE} WHERE item = %s", (item,)).one()
            start = tx.start_timestamp
        price = row.price if row else None
        with self._changed:
            if self._is_following and start >= self._as_of:  # Else it may have changed after this was read.
                self._prices[item] = price
        return price


def set_price(session: Session, item: str, price: int) -> int:
    """Returns the timestamp of the change."""
    with isolde.Isolde(session).transaction() as tx:
        tx.execute(f"INSERT INTO {_TABLE} (item, price) VALUES (%s, %s)", (item, price))
        return tx.commit().commit_timestamp


def main() -> None:
    with Cluster([os.environ.get("CASSANDRA", "127.0.0.1")]) as cluster:
        session = cluster.connect()
        session.execute(
            "CREATE KEYSPACE IF NOT EXISTS shop_python WITH replication ="
            " {'class': 'SimpleStrategy', 'replication_factor': 1}"
        )
        session.execute(f"CREATE TABLE IF NOT EXISTS {_TABLE} (item text PRIMARY KEY, price int)")
        session.execute(f"ENABLE TRANSACTIONS ON {_TABLE}")
        cache = Cache(session)
        for price in range(1, 6):
            changed = set_price(session, "tea", price)
            seen = {cache.price("tea", not_before=changed) for _ in range(1000)}
            assert seen == {price}, seen
        print(f"5,000 prices, none of them old, with {cache.reads} reads of the table.")


if __name__ == "__main__":
    main()
