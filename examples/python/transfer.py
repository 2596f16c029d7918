# SPDX-License-Identifier: Apache-2.0
"""Moves 30 from account 1 to account 2, and not a cent more than there is."""

from __future__ import annotations

import os
import sys

from cassandra.cluster import Cluster

import isolde


class NotEnough(Exception):
    """Rolls back, and reaches the caller as it is."""


def balance(tx: isolde.Transaction, number: int) -> int | None:
    row = tx.execute("SELECT balance FROM shop_python.accounts WHERE id = %s", (number,)).one()
    return row.balance if row else None


@isolde.transactional()
def open_accounts(tx: isolde.Transaction) -> None:
    if balance(tx, 1) is None:
        tx.write("INSERT INTO shop_python.accounts (id, balance) VALUES (1, 100)")
        tx.write("INSERT INTO shop_python.accounts (id, balance) VALUES (2, 0)")


@isolde.transactional()
def transfer(tx: isolde.Transaction, source: int, target: int, amount: int) -> tuple[int, int]:
    here, there = balance(tx, source), balance(tx, target)
    if here < amount:
        raise NotEnough
    update = "UPDATE shop_python.accounts SET balance = %s WHERE id = %s"
    tx.write(update, (here - amount, source))
    tx.write(update, (there + amount, target))
    return here - amount, there + amount


def main() -> None:
    with Cluster([os.environ.get("CASSANDRA", "127.0.0.1")]) as cluster:
        session = cluster.connect()
        session.execute(
            "CREATE KEYSPACE IF NOT EXISTS shop_python WITH replication ="
            " {'class': 'SimpleStrategy', 'replication_factor': 1}"
        )
        session.execute(
            "CREATE TABLE IF NOT EXISTS shop_python.accounts (id int PRIMARY KEY, balance int)"
        )
        session.execute("ENABLE TRANSACTIONS ON shop_python.accounts")
        open_accounts(session)
        try:
            here, there = transfer(session, 1, 2, 30)
        except NotEnough:
            sys.exit("there is not enough on account 1")
        print(f"Moved 30: account 1 has {here}, account 2 has {there}.")


if __name__ == "__main__":
    main()
