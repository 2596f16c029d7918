// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

import io.isolde.testing.CassandraInProcess;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.cassandra.cql3.UntypedResultSet;
import org.apache.cassandra.index.SecondaryIndexManager;

/** A table of a test with the version index, dropped when it is closed. */
final class VersionedTable implements AutoCloseable {
  private static final AtomicInteger NUMBER = new AtomicInteger();

  final String name = "t" + NUMBER.incrementAndGet();

  VersionedTable(String columnsAndOptions) {
    CassandraInProcess.start();
    CassandraInProcess.execute("CREATE TABLE test." + name + " " + columnsAndOptions);
    CassandraInProcess.execute(
        "CREATE CUSTOM INDEX "
            + VersionIndex.nameFor(name)
            + " ON test."
            + name
            + " () USING '"
            + VersionIndex.class.getName()
            + "'");
  }

  /** Executes a statement with %s for the table. */
  void execute(String cql) {
    CassandraInProcess.execute(String.format(cql, "test." + name));
  }

  /** Makes an index, and waits until it can be asked. */
  void index(String cql) {
    execute(cql);
    awaitIndexes(name);
  }

  /** Waits until all indexes of a table can be asked. */
  static void awaitIndexes(String table) {
    SecondaryIndexManager indexes = CassandraInProcess.table(table).indexManager;
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    while (!indexes.listIndexes().stream().allMatch(indexes::isIndexQueryable)) {
      if (System.nanoTime() > deadline) {
        throw new AssertionError("an index of " + table + " is not built in time");
      }
      Thread.onSpinWait();
    }
  }

  /** Executes a SELECT with %s for the table and %s for WHERE or AND expr(). */
  UntypedResultSet asOf(long timestamp, String select) {
    return CassandraInProcess.execute(selectAsOf(timestamp, select));
  }

  /** The same, with its own idea of now: for what expires. */
  UntypedResultSet asOfAt(long nowInSeconds, long timestamp, String select) {
    return CassandraInProcess.executeAt(nowInSeconds, selectAsOf(timestamp, select));
  }

  private String selectAsOf(long timestamp, String select) {
    String and = select.contains("WHERE") ? "AND " : "WHERE ";
    String expression = and + "expr(" + VersionIndex.nameFor(name) + ", " + timestamp + ")";
    return String.format(select, "test." + name, expression);
  }

  TableVersions versions() {
    return NodeVersions.ofThisNode().of(CassandraInProcess.table(name).metadata.id).versions();
  }

  void flush() {
    CassandraInProcess.flush(name);
  }

  void compact() {
    CassandraInProcess.compact(name);
  }

  @Override
  public void close() {
    CassandraInProcess.execute("DROP TABLE test." + name);
  }
}
