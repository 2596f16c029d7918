// SPDX-License-Identifier: Apache-2.0
package io.isolde.torture.reads;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.DriverException;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.cql.Statement;
import com.datastax.oss.driver.api.core.metadata.Node;
import com.datastax.oss.driver.api.core.servererrors.ProtocolError;
import com.datastax.oss.driver.api.core.servererrors.ReadFailureException;
import io.isolde.client.Transaction;
import io.isolde.cluster.ToolException;
import io.isolde.torture.reads.ShapeReads.Read;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** The same rows twice: in a transactional table, and in a plain one that tells what is right. */
final class Twins {
  private static final String FAILED = "failed: ";
  private static final int MAX_LOOKS = 600;
  private static final long LOOK_MILLIS = 50;

  private final Ground ground;
  private final String transactional;
  private final String plain;
  private final Shape shape;
  private final ShapeWrites writes;
  private final List<String> history = new ArrayList<>();

  /** Of what was written so far, the plain table has so many statements. */
  private int onPlain;

  Twins(Ground ground, Shape shape, Random random, String transactional, String plain) {
    this.ground = ground;
    this.shape = shape;
    this.transactional = transactional;
    this.plain = plain;
    this.writes = new ShapeWrites(shape, random);
  }

  void create() {
    ground.execute(shape.creation(transactional));
    ground.execute(shape.creation(plain));
    index(shape.indexes());
  }

  private void index(List<String> statements) {
    statements.forEach(statement -> ground.execute(statement.replace("$t", transactional)));
    session().getMetadata().getNodes().values().forEach(node -> awaitIndexes(node, statements));
  }

  private void awaitIndexes(Node node, List<String> statements) {
    int dot = transactional.indexOf('.');
    for (String statement : statements) {
      String column = statement.replaceFirst(".*\\((.*)\\).*", "$1");
      SimpleStatement built =
          SimpleStatement.newInstance(
                  "SELECT * FROM system.\"IndexInfo\" WHERE table_name = ? AND index_name = ?",
                  transactional.substring(0, dot),
                  "%s_%s_idx".formatted(transactional.substring(dot + 1), column))
              .setNode(node);
      for (int look = 0; session().execute(built).one() == null; look++) {
        if (look == MAX_LOOKS) {
          throw new ToolException("The index of " + column + " is not built in time.");
        }
        pause();
      }
    }
  }

  private static void pause() {
    try {
      Thread.sleep(LOOK_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ToolException("It was interrupted.", e);
    }
  }

  Shape shape() {
    return shape;
  }

  ShapeWrites writes() {
    return writes;
  }

  String transactional() {
    return transactional;
  }

  /** All statements so far, in their order. */
  List<String> history() {
    return history;
  }

  /** Writes to the table that will be transactional. */
  void writeEarly(List<String> statements) {
    for (String statement : statements) {
      ground.execute(statement.replace("$t", transactional));
      history.add(statement);
    }
  }

  /** Makes it transactional. The plain one gets now what the other has. */
  void enable() {
    ground.execute("ENABLE TRANSACTIONS ON " + transactional);
    history.stream().skip(onPlain).forEach(this::writePlain);
    onPlain = history.size();
    history.add("ENABLE TRANSACTIONS ON $t");
    index(shape.lateIndexes());
  }

  /** Writes to both, each write on its own. */
  void write(List<String> statements) {
    for (String statement : statements) {
      ground.execute(statement.replace("$t", transactional));
      writePlain(statement);
      history.add(statement);
    }
  }

  /** Writes to one in the transaction, and at once to the other. */
  void write(Transaction transaction, List<String> statements) {
    for (String statement : statements) {
      var unused = transaction.execute(statement.replace("$t", transactional));
      writePlain(statement);
      history.add("in transaction: " + statement);
    }
  }

  private void writePlain(String statement) {
    ground.execute(statement.replace("$t", plain));
  }

  /**
   * What the plain table says, in two ways that should be the same. Null is what Cassandra fails to
   * read: some GROUP BY with a limit or a page that ends in front of a deleted range. The
   * transactional table answers that, but what is right is not known. Aggregates are always read in
   * pages.
   */
  record Right(List<String> paged, List<String> whole) {
    boolean admits(List<String> rows) {
      if (isFailure(rows)) {
        return paged != null && isFailure(paged);
      }
      return rows.equals(paged) || rows.equals(whole) || (paged == null && whole == null);
    }
  }

  private static boolean isFailure(List<String> rows) {
    return rows.size() == 1 && rows.get(0).startsWith(FAILED);
  }

  Right right(Read read) {
    return new Right(stock(read), stock(new Read(read.cql(), Read.ALL)));
  }

  private List<String> stock(Read read) {
    try {
      return lines(session().execute(on(plain, read)));
    } catch (ReadFailureException e) {
      return null;
    } catch (ProtocolError e) { // It can't read its own paging state without a clustering key.
      return List.of(FAILED + e);
    }
  }

  /**
   * Reads the transactional table; what is no answer to a question like this comes as a line.
   *
   * @param transaction null to read on its own
   */
  List<String> read(Read read, Transaction transaction) {
    Statement<?> statement = on(transactional, read);
    try {
      return lines(
          transaction == null ? session().execute(statement) : transaction.execute(statement));
    } catch (DriverException e) {
      if (Trouble.isPassing(e)) {
        throw e;
      }
      return List.of(FAILED + e);
    }
  }

  private Statement<?> on(String table, Read read) {
    SimpleStatement statement = SimpleStatement.newInstance(read.cql().replace("$t", table));
    if (read.pageSize() != Read.ALL) {
      return statement.setPageSize(read.pageSize());
    }
    return statement.setExecutionProfile(
        session()
            .getContext()
            .getConfig()
            .getDefaultProfile()
            .withInt(DefaultDriverOption.REQUEST_PAGE_SIZE, 0));
  }

  private CqlSession session() {
    return ground.session();
  }

  private static List<String> lines(ResultSet result) {
    List<String> lines = new ArrayList<>();
    for (Row row : result) {
      lines.add(row.getFormattedContents());
    }
    return lines;
  }
}
