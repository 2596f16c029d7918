// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.operations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.DefaultProtocolVersion;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.cql.AsyncResultSet;
import com.datastax.oss.driver.api.core.cql.BatchStatement;
import com.datastax.oss.driver.api.core.cql.BatchType;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.cql.Statement;
import com.datastax.oss.driver.api.core.servererrors.InvalidQueryException;
import io.isolde.cluster.NodeTool;
import io.isolde.system.SystemNode;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Writes that are answered after their handler has returned, as drivers see them. */
class AnswersLaterTest {
  private static final SystemNode NODE = SystemNode.shared();
  private static final int WRITES = 300;
  private static final int COMMITS = 40;

  private static final String COMPLETED =
      "org.apache.cassandra.metrics:type=ThreadPools,path=transport,"
          + "scope=Native-Transport-Requests,name=CompletedTasks";

  private static CqlSession connect(DefaultProtocolVersion version) {
    return NODE.connect(
        config -> config.withString(DefaultDriverOption.PROTOCOL_VERSION, version.name()),
        builder -> builder);
  }

  private static String table() {
    return NODE.table("id int PRIMARY KEY, v int");
  }

  private static PreparedStatement update(CqlSession session, String table) {
    return session.prepare("UPDATE %s SET v = ? WHERE id = ?".formatted(table));
  }

  @ParameterizedTest
  @EnumSource(
      value = DefaultProtocolVersion.class,
      names = {"V4", "V5"})
  void whenManyWritesWaitThenTheyHoldNoThreadsAndReadsSeeThem(DefaultProtocolVersion version) {
    try (CqlSession session = connect(version);
        NodeTool tool = NODE.tool()) {
      String table = table();
      PreparedStatement update = update(session, table);
      long before = completed(tool);
      List<CompletableFuture<AsyncResultSet>> writes =
          IntStream.range(0, WRITES)
              .mapToObj(id -> session.executeAsync(update.bind(2 * id, id)))
              .map(CompletionStage::toCompletableFuture)
              .toList();
      writes.forEach(CompletableFuture::join);
      assertThat(completed(tool) - before).as("by Cassandra's threads").isLessThan(WRITES);
      for (int id = 0; id < WRITES; id++) {
        String read = "SELECT v FROM %s WHERE id = %d".formatted(table, id);
        assertThat(session.execute(read).one().getInt("v")).isEqualTo(2 * id);
      }
    }
  }

  private static long completed(NodeTool tool) {
    return ((Number) tool.attribute(COMPLETED, "Value")).longValue();
  }

  @ParameterizedTest
  @EnumSource(
      value = DefaultProtocolVersion.class,
      names = {"V4", "V5"})
  void whenAWriteIsRefusedThenItsErrorComesAsEver(DefaultProtocolVersion version) {
    try (CqlSession session = connect(version)) {
      PreparedStatement update = update(session, table());
      assertThatThrownBy(() -> session.execute(update.bind(1, null)))
          .isInstanceOf(InvalidQueryException.class)
          .hasMessageContaining("id");
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = DefaultProtocolVersion.class,
      names = {"V4", "V5"})
  void whenAWriteIsTracedThenItHasATrace(DefaultProtocolVersion version) {
    try (CqlSession session = connect(version)) {
      PreparedStatement update = update(session, table());
      var info = session.execute(update.bind(1, 1).setTracing(true)).getExecutionInfo();
      assertThat(info.getTracingId()).isNotNull();
    }
  }

  /** How COMMIT comes. */
  private enum Form {
    STATEMENT {
      @Override
      Statement<?> commit(CqlSession session, PreparedStatement update, int key) {
        return SimpleStatement.newInstance("COMMIT");
      }
    },
    PREPARED {
      @Override
      Statement<?> commit(CqlSession session, PreparedStatement update, int key) {
        return session.prepare("COMMIT").bind();
      }
    },
    WITH_LAST_WRITE {
      @Override
      Statement<?> commit(CqlSession session, PreparedStatement update, int key) {
        return withCommit(update.bind(2, key + WRITES));
      }
    },
    WITH_LAST_BATCH {
      @Override
      Statement<?> commit(CqlSession session, PreparedStatement update, int key) {
        return withCommit(
            BatchStatement.newInstance(BatchType.UNLOGGED, update.bind(2, key + WRITES)));
      }
    };

    abstract Statement<?> commit(CqlSession session, PreparedStatement update, int key);

    boolean hasLastWrite() {
      return this == WITH_LAST_WRITE || this == WITH_LAST_BATCH;
    }

    private static <T extends Statement<T>> Statement<T> withCommit(T statement) {
      return statement.setCustomPayload(Map.of("isolde-commit", ByteBuffer.allocate(0)));
    }
  }

  private static Statement<?> in(UUID transaction, Statement<?> statement) {
    Map<String, ByteBuffer> payload = new HashMap<>(statement.getCustomPayload());
    payload.put("isolde-transaction", text(transaction.toString()));
    return statement.setCustomPayload(payload);
  }

  private static ByteBuffer text(String value) {
    return ByteBuffer.wrap(value.getBytes(StandardCharsets.UTF_8));
  }

  private static void begin(CqlSession session, UUID transaction, PreparedStatement update) {
    session.execute(in(transaction, SimpleStatement.newInstance("START TRANSACTION")));
    session.execute(in(transaction, update.bind(1, (int) transaction.getLeastSignificantBits())));
  }

  @ParameterizedTest
  @EnumSource(Form.class)
  void whenManyCommitsWaitThenTheyHoldNoThreadsAndEachIsTold(Form form) {
    for (DefaultProtocolVersion version :
        List.of(DefaultProtocolVersion.V4, DefaultProtocolVersion.V5)) {
      try (CqlSession session = connect(version);
          NodeTool tool = NODE.tool()) {
        String table = table();
        PreparedStatement update = update(session, table);
        long run = UUID.randomUUID().getMostSignificantBits();
        for (int key = 0; key < COMMITS; key++) {
          begin(session, new UUID(run, key), update);
        }
        long before = completed(tool);
        List<CompletableFuture<AsyncResultSet>> commits =
            IntStream.range(0, COMMITS)
                .mapToObj(
                    key ->
                        session.executeAsync(
                            in(new UUID(run, key), form.commit(session, update, key))))
                .map(CompletionStage::toCompletableFuture)
                .toList();
        for (CompletableFuture<AsyncResultSet> commit : commits) {
          assertThat(commit.join().one().getBoolean("committed")).isTrue();
        }
        assertThat(completed(tool) - before).as("by Cassandra's threads").isLessThan(COMMITS);
        long rows = session.execute("SELECT count(*) FROM " + table).one().getLong(0);
        assertThat(rows).isEqualTo(form.hasLastWrite() ? 2L * COMMITS : COMMITS);
      }
    }
  }

  @Test
  void whenCommitsOfOneTransactionComeAtOnceThenAllGetTheSameAnswer() {
    try (CqlSession session = connect(DefaultProtocolVersion.V5)) {
      PreparedStatement update = update(session, table());
      for (int round = 0; round < COMMITS; round++) {
        UUID transaction = UUID.randomUUID();
        begin(session, transaction, update);
        Set<String> answers =
            IntStream.range(0, 4)
                .mapToObj(
                    i ->
                        session.executeAsync(
                            in(transaction, SimpleStatement.newInstance("COMMIT"))))
                .map(CompletionStage::toCompletableFuture)
                .toList()
                .stream()
                .map(answer -> answer.join().one().getFormattedContents())
                .collect(Collectors.toSet());
        assertThat(answers).hasSize(1);
      }
    }
  }

  /** It may come while COMMIT is under way, and must not claim that nothing is committed. */
  @Test
  void whenRollbackComesDuringCommitThenOneOfThemHolds() {
    try (CqlSession session = connect(DefaultProtocolVersion.V5)) {
      String table = table();
      PreparedStatement update = update(session, table);
      long run = UUID.randomUUID().getMostSignificantBits();
      for (int round = 0; round < COMMITS; round++) {
        UUID transaction = new UUID(run, round);
        begin(session, transaction, update);
        var commit = session.executeAsync(in(transaction, SimpleStatement.newInstance("COMMIT")));
        var rollback =
            session.executeAsync(in(transaction, SimpleStatement.newInstance("ROLLBACK")));
        boolean isCommitted = isDone(commit);
        boolean isRolledBack = isDone(rollback);
        boolean isThere =
            session.execute("SELECT v FROM %s WHERE id = %d".formatted(table, round)).one() != null;
        assertThat(isCommitted).as("committed").isEqualTo(isThere).isNotEqualTo(isRolledBack);
      }
    }
  }

  private static boolean isDone(CompletionStage<AsyncResultSet> answer) {
    return answer.handle((done, failure) -> failure == null).toCompletableFuture().join();
  }
}
