// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.locks;

import static io.isolde.system.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.cql.Row;
import io.isolde.client.ErrorCode;
import io.isolde.client.IsolationLevel;
import io.isolde.client.Transaction;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** SELECT … FOR UPDATE SKIP LOCKED: queues of jobs. */
class SkipLockedTest extends LockingTransactions {
  private static final String JOBS =
      NODE.table("q int, id int, done boolean, s int static, PRIMARY KEY (q, id)");
  private static final int WORKERS = 24;

  @Test
  void whenWorkersSkipLockedJobsThenEachJobIsDoneOnceAndNobodyWaits() throws Exception {
    int jobs = 60;
    for (int id = 0; id < jobs; id++) {
      NODE.session().execute("INSERT INTO %s (q, id, s) VALUES (1, %d, 1)".formatted(JOBS, id));
    }
    Set<Integer> done = ConcurrentHashMap.newKeySet();
    List<Future<Void>> workers = new ArrayList<>();
    for (int worker = 0; worker < WORKERS; worker++) {
      workers.add(later(() -> work(done)));
    }
    for (Future<Void> worker : workers) {
      worker.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }
    assertThat(done).hasSize(jobs);
    assertThat(NODE.session().execute("SELECT id FROM %s WHERE q = 1".formatted(JOBS)).all())
        .hasSize(1); // The static row is left.
  }

  /** As many workers as there may be are busy at once, and each has a job of its own. */
  @Test
  void whenManyJobsAreLockedThenTheNextWorkerStillFindsOne() {
    String jobs = NODE.table("id int PRIMARY KEY");
    int count = 40;
    for (int id = 0; id < count; id++) {
      NODE.session().execute("INSERT INTO %s (id) VALUES (%d)".formatted(jobs, id));
    }
    Set<String> taken = new HashSet<>();
    List<Transaction> workers = new ArrayList<>();
    try {
      for (int i = 0; i < count; i++) {
        Transaction worker = begin();
        workers.add(worker);
        taken.addAll(
            rows(worker, "SELECT id FROM %s LIMIT 1 FOR UPDATE SKIP LOCKED".formatted(jobs)));
        assertThat(taken).hasSize(i + 1);
      }
      try (Transaction last = begin()) {
        assertThat(rows(last, "SELECT id FROM %s FOR UPDATE SKIP LOCKED".formatted(jobs)))
            .isEmpty();
      }
    } finally {
      workers.forEach(Transaction::close);
    }
  }

  /** What a skipped row has become is no matter of who skips it. */
  @Test
  void whenASkippedRowHasChangedSinceTheSnapshotThenItIsNoConflict() {
    try (Transaction first = begin();
        Transaction second = begin()) {
      second.execute("SELECT v FROM %s WHERE id = 4".formatted(ROWS));
      NODE.session().execute("UPDATE %s SET v = 1 WHERE id = 1".formatted(ROWS));
      lock(first, 1, "");
      assertThat(
              rows(
                  second,
                  "SELECT id FROM %s WHERE id IN (1, 2) LIMIT 1 FOR UPDATE SKIP LOCKED"
                      .formatted(ROWS)))
          .containsExactly("2");
      assertRefused(
          ErrorCode.CONFLICT,
          () -> {
            first.rollback();
            lock(second, 1, "SKIP LOCKED");
          });
    }
  }

  private static Void work(Set<Integer> done) {
    while (true) {
      try (Transaction transaction = begin(IsolationLevel.SNAPSHOT)) {
        List<Row> job =
            transaction
                .execute(
                    "SELECT id FROM %s WHERE q = 1 AND id >= 0 LIMIT 1 FOR UPDATE SKIP LOCKED"
                        .formatted(JOBS))
                .all();
        if (job.isEmpty()) {
          return null;
        }
        int id = job.get(0).getInt("id");
        transaction.execute("DELETE FROM %s WHERE q = 1 AND id = %d".formatted(JOBS, id));
        transaction.commit();
        assertThat(done.add(id)).isTrue();
      }
    }
  }

  @Test
  void whenSomeRowsAreLockedThenTheRestIsReturnedAsIfTheyWereNotThere() {
    try (Transaction first = begin();
        Transaction second = begin()) {
      lock(first, 1, "");
      lock(first, 2, "");
      second.execute("UPDATE %s SET v = 50 WHERE id = 3".formatted(ROWS));
      assertThat(
              rows(
                  second,
                  "SELECT id, v FROM %s WHERE id IN (1, 2, 3) FOR UPDATE SKIP LOCKED"
                      .formatted(ROWS)))
          .containsExactly("3 50");
      assertThat(rows(second, "SELECT id FROM %s FOR UPDATE SKIP LOCKED".formatted(ROWS)))
          .containsExactlyInAnyOrder("3", "4");
      assertRefused(ErrorCode.ROW_LOCKED, () -> lock(first, 4, "NOWAIT"));
    }
  }
}
