// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

import io.isolde.testing.CassandraInProcess;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.cassandra.cql3.UntypedResultSet;

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

  /** Executes a SELECT with %s for the table and %s for WHERE or AND expr(). */
  UntypedResultSet asOf(long timestamp, String select) {
    String and = select.contains("WHERE") ? "AND " : "WHERE ";
    String expression = and + "expr(" + VersionIndex.nameFor(name) + ", " + timestamp + ")";
    return CassandraInProcess.execute(String.format(select, "test." + name, expression));
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
