// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.notifications;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import io.isolde.bench.nodes.TemporaryNode;
import io.isolde.client.Isolde;
import io.isolde.client.IsoldeException;
import io.isolde.client.Outcome;
import java.util.concurrent.atomic.AtomicInteger;

/** Commits transactions that write rows which are watched; for one change after another, row 0. */
final class IsoldeWriter implements Writer {
  private static final String KEYSPACE = "notifications";
  private static final String TABLE = KEYSPACE + ".watched";

  private final Isolde isolde;
  private final PreparedStatement update;
  private final AtomicInteger last = new AtomicInteger();

  /** Creates the table, with a replica on each node. */
  IsoldeWriter(TemporaryNode cluster) {
    CqlSession session = cluster.session();
    cluster.createKeyspace(KEYSPACE);
    session.execute("CREATE TABLE " + TABLE + " (p int PRIMARY KEY, v int)");
    cluster.awaitSchema();
    session.execute("ENABLE TRANSACTIONS ON " + TABLE);
    cluster.awaitSchema();
    isolde = Isolde.on(session);
    update = session.prepare("UPDATE " + TABLE + " SET v = ? WHERE p = ?");
  }

  /** What watchers of a row subscribe to. */
  static String statement(int row) {
    return "SELECT CHANGES FROM " + TABLE + " WHERE p = " + row;
  }

  @Override
  public long change() {
    return change(0);
  }

  /** As {@link #change()}, of any row and by any number of threads. */
  long change(int row) {
    int version = last.incrementAndGet();
    try {
      return isolde.run(
          transaction -> {
            transaction.write(update.bind(version, row));
            return transaction.commit().commitTimestamp().orElseThrow();
          });
    } catch (IsoldeException e) {
      if (e.outcome() == Outcome.NOT_COMMITTED) {
        throw e;
      }
      throw new DoubtfulException(e);
    }
  }

  /** The session is the cluster's. */
  @Override
  public void close() {}
}
