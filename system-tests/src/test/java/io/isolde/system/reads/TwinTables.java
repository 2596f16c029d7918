// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.reads;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverExecutionProfile;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.Statement;
import com.datastax.oss.driver.api.core.servererrors.ReadFailureException;
import io.isolde.client.Transaction;
import io.isolde.system.Results;
import io.isolde.system.SystemNode;
import io.isolde.system.reads.RandomReads.Read;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * The same rows twice: in a transactional table, and in a plain one that tells what is right.
 *
 * @param history all writes so far, for the report of a failure
 */
record TwinTables(
    SystemNode node,
    Random random,
    Order order,
    String transactional,
    String plain,
    List<String> history) {

  /** How rows are ordered within a partition. */
  enum Order {
    ASCENDING("c ASC, d ASC", "c DESC, d DESC"),
    DESCENDING("c DESC, d DESC", "c ASC, d ASC"),
    MIXED("c DESC, d ASC", "c ASC, d DESC");

    private final String forward;
    private final String reversed;

    Order(String forward, String reversed) {
      this.forward = forward;
      this.reversed = reversed;
    }
  }

  static TwinTables create(SystemNode node, Random random, Order order) {
    String type = SystemNode.KEYSPACE + "." + SystemNode.freshName("address");
    node.session().execute("CREATE TYPE %s (street text, number int)".formatted(type));
    String columns = RandomWrites.COLUMNS.replace("$a", type);
    String options = "WITH CLUSTERING ORDER BY (" + order.forward + ")";
    TwinTables twins =
        new TwinTables(
            node,
            random,
            order,
            node.plainTable(columns, options),
            node.plainTable(columns, options),
            new ArrayList<>());
    twins.history.add(options);
    return twins;
  }

  void enable() {
    note("ENABLE TRANSACTIONS ON $t;");
    node.session().execute("ENABLE TRANSACTIONS ON " + transactional);
  }

  /** Writes to both tables, to the transactional one on its own. */
  void write(Cql cql) {
    note(cql.toString());
    session().execute(statement(cql, transactional));
    session().execute(statement(cql, plain));
  }

  /** Writes to the transactional table in the transaction, and at once to the other. */
  void write(Transaction transaction, Cql cql) {
    note("in transaction: " + cql);
    transaction.execute(statement(cql, transactional));
    session().execute(statement(cql, plain));
  }

  void note(String what) {
    history.add(what);
  }

  /**
   * Returns what the plain table says; null if Cassandra can't read it. That happens with GROUP BY
   * where a page or limit ends in front of a deleted range ("open RT bound as its last item").
   */
  List<String> right(Read read) {
    try {
      return lines(read, plain, null);
    } catch (ReadFailureException e) {
      return null;
    }
  }

  /**
   * Reads the transactional table.
   *
   * @param transaction null to read on its own
   */
  List<String> read(Read read, Transaction transaction) {
    return lines(read, transactional, transaction);
  }

  private List<String> lines(Read read, String table, Transaction transaction) {
    Cql cql = read.cql().with("$ordered", order.forward).with("$reversed", order.reversed);
    Statement<?> paged = paged(statement(cql, table), read.pageSize());
    ResultSet rows = transaction == null ? session().execute(paged) : transaction.execute(paged);
    return Results.lines(rows);
  }

  private Statement<?> paged(Statement<?> statement, int pageSize) {
    if (pageSize > 0) {
      return statement.setPageSize(pageSize);
    }
    DriverExecutionProfile profile = session().getContext().getConfig().getDefaultProfile();
    return statement.setExecutionProfile(profile.withInt(DefaultDriverOption.REQUEST_PAGE_SIZE, 0));
  }

  private Statement<?> statement(Cql cql, String table) {
    Cql.Form[] forms = Cql.Form.values();
    return cql.on(table, forms[random.nextInt(forms.length)], session());
  }

  private CqlSession session() {
    return node.session();
  }
}
