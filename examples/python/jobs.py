# SPDX-License-Identifier: Apache-2.0
"""A queue of jobs: each is done once, by whichever worker is free, as soon as it is there."""

from __future__ import annotations

import os
import threading
import uuid

from cassandra.cluster import Cluster, Session

import isolde

_QUEUE = "shop_python.jobs"
_DONE = "shop_python.done"
_WORKERS = 3
_JOBS = 30


def add(session: Session, text: str) -> None:
    insert = f"INSERT INTO {_QUEUE} (queue, id, text) VALUES ('mail', %s, %s)"
    session.execute(insert, (uuid.uuid1(), text))


@isolde.transactional()
def do_one(tx: isolde.Transaction, worker: int) -> bool:
    """Takes the first job that nobody else has, and says who did it; False if there is none.

    What a job leaves in the database belongs to the same transaction, so it is there once. A worker
    that dies has done nothing: its job is free again when its transaction ends.
    """
    first = f"SELECT id, text FROM {_QUEUE} WHERE queue = 'mail' LIMIT 1 FOR UPDATE SKIP LOCKED"
    job = tx.execute(first).one()
    if job is None:
        return False
    tx.execute(f"INSERT INTO {_DONE} (text, worker) VALUES (%s, %s)", (job.text, worker))
    tx.execute(f"DELETE FROM {_QUEUE} WHERE queue = 'mail' AND id = %s", (job.id,))
    return True


def work(session: Session, worker: int, position: int) -> None:
    """Looks as soon as there is a job, and every 1.5 s: one may be free whose worker died."""
    next_change = session.prepare(
        f"SELECT CHANGES FROM {_QUEUE} WHERE queue = 'mail' AFTER ? WITHIN 1500 MILLISECONDS"
    )
    while True:
        while do_one(session, worker):
            pass
        position = session.execute(next_change, (position,)).all()[-1].timestamp


def main() -> None:
    with Cluster([os.environ.get("CASSANDRA", "127.0.0.1")]) as cluster:
        session = cluster.connect()
        session.execute(
            "CREATE KEYSPACE IF NOT EXISTS shop_python WITH replication ="
            " {'class': 'SimpleStrategy', 'replication_factor': 1}"
        )
        session.execute(
            f"CREATE TABLE IF NOT EXISTS {_QUEUE}"
            " (queue text, id timeuuid, text text, PRIMARY KEY (queue, id))"
        )
        session.execute(
            f"CREATE TABLE IF NOT EXISTS {_DONE} (text text, worker int, PRIMARY KEY (text, worker))"
        )
        for table in (_QUEUE, _DONE):
            session.execute(f"ENABLE TRANSACTIONS ON {table}")
        now = f"SELECT CHANGES FROM {_QUEUE} WHERE queue = 'mail' AFTER NOW WITHIN 0 MILLISECONDS"
        after = session.execute(now).one().timestamp
        for worker in range(_WORKERS):
            threading.Thread(target=work, args=(session, worker, after), daemon=True).start()
        run = uuid.uuid4()
        texts = {f"{run} {number}" for number in range(_JOBS)}
        done = isolde.Isolde(session).watch(f"SELECT CHANGES FROM {_DONE}", after=after)
        for text in texts:
            add(session, text)
        for _ in done:
            rows = [row for row in session.execute(f"SELECT text FROM {_DONE}") if row.text in texts]
            if {row.text for row in rows} == texts:
                break
        assert len(rows) == _JOBS, rows
        print(f"{_JOBS} jobs, each done once.")


if __name__ == "__main__":
    main()
