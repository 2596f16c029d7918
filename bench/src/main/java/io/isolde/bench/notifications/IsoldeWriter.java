// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.notifications;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import io.isolde.bench.nodes.TemporaryNode;
import io.isolde.client.Isolde;
import io.isolde.client.IsoldeException;
import io.isolde.client.Outcome;

/** Commits a transaction that writes the row which all watch. */
final class IsoldeWriter implements Writer {
  private static final String KEYSPACE = "notifications";
  private static final String TABLE = KEYSPACE + ".watched";

  /** What watchers subscribe to. */
  static final String STATEMENT = "SELECT CHANGES FROM " + TABLE + " WHERE p = 0";

  private final Isolde isolde;
  private final PreparedStatement update;
  private int last;

  /** Creates the table, with a replica on each node. */
  IsoldeWriter(TemporaryNode cluster) {
    CqlSession session = cluster.session();
    cluster.createKeyspace(KEYSPACE);
    session.execute("CREATE TABLE " + TABLE + " (p int PRIMARY KEY, v int)");
    cluster.awaitSchema();
    session.execute("ENABLE TRANSACTIONS ON " + TABLE);
    cluster.awaitSchema();
    isolde = Isolde.on(session);
    update = session.prepare("UPDATE " + TABLE + " SET v = ? WHERE p = 0");
  }

  @Override
  public long change() {
    int version = ++last;
    try {
      return isolde.run(
          transaction -> {
            transaction.write(update.bind(version));
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
