// SPDX-License-Identifier: Apache-2.0
package io.isolde.cql;

import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.oracle.group.Changes;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.cassandra.cql3.ColumnIdentifier;
import org.apache.cassandra.cql3.ColumnSpecification;
import org.apache.cassandra.cql3.QueryOptions;
import org.apache.cassandra.cql3.QueryProcessor;
import org.apache.cassandra.cql3.ResultSet;
import org.apache.cassandra.cql3.statements.SelectStatement;
import org.apache.cassandra.db.ConsistencyLevel;
import org.apache.cassandra.db.marshal.AbstractType;
import org.apache.cassandra.db.marshal.Int32Type;
import org.apache.cassandra.db.marshal.LongType;
import org.apache.cassandra.db.marshal.UTF8Type;
import org.apache.cassandra.exceptions.SyntaxException;
import org.apache.cassandra.service.ClientState;
import org.apache.cassandra.transport.messages.ResultMessage;

/** {@code SELECT CHANGES FROM … AFTER …}: which commits have changed what a SELECT reads. */
final class WatchStatements {
  /** Below the time-outs of drivers. */
  private static final int DEFAULT_WAIT_MILLIS = 1_500;

  private static final int MAX_WAIT_MILLIS = 60_000;

  /** No watch is longer: it is of 1,024 rows at most. */
  private static final int MAX_CHARACTERS = 1 << 17;

  /** While a node audits or traces requests, each holds a thread until it is answered. */
  private static final int MAX_BLOCKING = 16;

  private static final Pattern BEGIN =
      Pattern.compile("SELECT\\s++CHANGES\\s++FROM\\s", Pattern.CASE_INSENSITIVE);

  private static final Pattern WATCH =
      Pattern.compile(
          "(?is)\\s*SELECT\\s+CHANGES\\s+(?<from>FROM\\s.*?)"
              + "\\sAFTER\\s+(?<after>NOW|\\?|:\\w+|\\d{1,18})"
              + "(?:\\s+WITHIN\\s+(?<within>\\?|:\\w+|\\d{1,9})\\s+MILLISECONDS)?\\s*+;?+\\s*+");

  /** In a literal, a quote would follow. */
  private static final Pattern MEANT =
      Pattern.compile("(?is).*\\sAFTER\\s+(?:NOW\\b|\\?|:\\w|\\d)[^'\"$]*+");

  private static final List<ColumnSpecification> COLUMNS =
      List.of(column("event", UTF8Type.instance), column("timestamp", LongType.instance));

  private final ChangeSources sources;
  private final ConnectionTransactions connections;
  private final Semaphore blocking = new Semaphore(MAX_BLOCKING);

  WatchStatements(ChangeSources sources, ConnectionTransactions connections) {
    this.sources = sources;
    this.connections = connections;
  }

  private static ColumnSpecification column(String name, AbstractType<?> type) {
    return new ColumnSpecification("isolde", "changes", new ColumnIdentifier(name, true), type);
  }

  /** Whether a text starts as such a statement. Cheap for all others. */
  static boolean mayBe(String text) {
    Matcher begin = BEGIN.matcher(text);
    return begin.region(StatementParser.beginBehindComments(text), text.length()).lookingAt();
  }

  /** Whether a text is such a statement: not a SELECT of a column of that name. */
  static boolean isWatch(String text) {
    return text.length() <= MAX_CHARACTERS
        && mayBe(text)
        && MEANT.matcher(StatementParser.withoutComments(text)).matches();
  }

  /** Prepares the text of a watch. */
  static ControlStatement.Watch prepare(String text, ClientState client) {
    Matcher watch = WATCH.matcher(StatementParser.withoutComments(text));
    if (!watch.matches()) {
      throw new SyntaxException(
          "A watch is SELECT CHANGES FROM table [WHERE …] AFTER {NOW | timestamp | ?}"
              + " [WITHIN {milliseconds | ?} MILLISECONDS].");
    }
    SelectStatement.RawStatement raw =
        (SelectStatement.RawStatement)
            QueryProcessor.parseStatement("SELECT * " + watch.group("from"));
    raw.setKeyspace(client);
    SelectStatement select = raw.prepare(client);
    List<ColumnSpecification> variables = new ArrayList<>(select.getBindVariables());
    Term after = Term.of(watch.group("after"), LongType.instance, variables);
    Term within = Term.of(watch.group("within"), Int32Type.instance, variables);
    return new ControlStatement.Watch(select, after, within, variables);
  }

  /**
   * A number in a watch.
   *
   * @param index of its value among those that are bound; -1 if the text has it
   * @param value null for NOW, or nothing
   */
  record Term(int index, Long value, AbstractType<?> type) {
    private static Term of(String text, AbstractType<?> type, List<ColumnSpecification> variables) {
      if (text == null || text.equalsIgnoreCase("NOW")) {
        return new Term(-1, null, type);
      }
      if (Character.isDigit(text.charAt(0))) {
        return new Term(-1, Long.valueOf(text), type);
      }
      boolean isNamed = text.startsWith(":");
      String name = isNamed ? text.substring(1) : type == LongType.instance ? "after" : "within";
      variables.add(column(name, type));
      return new Term(variables.size() - 1, null, type);
    }

    /** A null that is bound stands for NOW, or the default. */
    private OptionalLong in(QueryOptions options) {
      if (index < 0) {
        return value == null ? OptionalLong.empty() : OptionalLong.of(value);
      }
      ByteBuffer bound = options.getValues().get(index);
      if (bound == null || !bound.hasRemaining()) {
        return OptionalLong.empty();
      }
      type.validate(bound);
      return OptionalLong.of(((Number) type.compose(bound)).longValue());
    }
  }

  CompletableFuture<ResultMessage> run(
      ControlStatement.Watch watch, QueryOptions options, Incoming incoming) {
    if (connections.transactionOf(incoming).isPresent()) {
      throw IsoldeException.invalid(
          "SELECT CHANGES can't be part of a transaction; send it without one.");
    }
    SelectStatement select = watch.select();
    select.authorize(incoming.client());
    select.validate(incoming.client());
    WatchScope scope = WatchScope.of(select, optionsOf(select, options), sources.groups());
    OptionalLong after = watch.after().in(options);
    long waitMillis = watch.within().in(options).orElse(DEFAULT_WAIT_MILLIS);
    if (after.isPresent() && after.getAsLong() < 0) {
      throw IsoldeException.invalid("AFTER takes a timestamp that is not negative, or NOW.");
    }
    if (waitMillis < 0 || waitMillis > MAX_WAIT_MILLIS) {
      throw IsoldeException.invalid(
          "WITHIN takes 0 to " + MAX_WAIT_MILLIS + " milliseconds, not " + waitMillis + ".");
    }
    boolean isHolding = !LaterAnswers.mayComeLater();
    if (isHolding && !blocking.tryAcquire()) {
      throw IsoldeException.of(
          ErrorCode.TOO_MANY_WATCHES,
          "This node audits or traces its requests, and then "
              + MAX_BLOCKING
              + " watches may wait. Ask another node, or later, after the same timestamp.");
    }
    CompletableFuture<ResultMessage> answer =
        sources.ask(select.table, scope, after, waitMillis).thenApply(WatchStatements::rows);
    return isHolding ? answer.whenComplete((rows, failure) -> blocking.release()) : answer;
  }

  private static QueryOptions optionsOf(SelectStatement select, QueryOptions options) {
    List<ByteBuffer> values = options.getValues();
    return QueryOptions.forInternalCalls(
        ConsistencyLevel.ONE, values.subList(0, select.getBindVariables().size()));
  }

  private static ResultMessage rows(Changes.Notification notification) {
    List<List<ByteBuffer>> rows = new ArrayList<>();
    notification.commits().forEach(commit -> rows.add(row("change", commit)));
    rows.add(row(notification.isLost() ? "lost" : "position", notification.position()));
    return new ResultMessage.Rows(new ResultSet(new ResultSet.ResultMetadata(COLUMNS), rows));
  }

  private static List<ByteBuffer> row(String event, long timestamp) {
    return List.of(UTF8Type.instance.decompose(event), LongType.instance.decompose(timestamp));
  }
}
