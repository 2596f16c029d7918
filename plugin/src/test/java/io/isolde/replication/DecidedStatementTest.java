// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.testing.CassandraInProcess;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.cassandra.cql3.QueryProcessor;
import org.apache.cassandra.transport.ProtocolVersion;
import org.apache.cassandra.utils.ByteBufferUtil;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class DecidedStatementTest {
  private static final String INSERT = "INSERT INTO decided (p, v) VALUES (?, 'x') IF NOT EXISTS";
  private static final int TIMES = 3_000;

  @BeforeAll
  static void start() {
    CassandraInProcess.start();
    CassandraInProcess.execute("CREATE TABLE test.decided (p int PRIMARY KEY, v text)");
  }

  /** As while a schema changes, or while clients prepare more statements than are kept. */
  @Test
  void whenPreparedStatementsAreLetGoThenARequestIsStillUnderstood() throws Exception {
    AtomicBoolean isOver = new AtomicBoolean();
    CompletableFuture<Void> clearing =
        CompletableFuture.runAsync(
            () -> {
              while (!isOver.get()) {
                QueryProcessor.clearPreparedStatements(true);
              }
            });
    try {
      for (int p = 0; p < TIMES; p++) {
        DecidedStatement statement = DecidedStatement.of(prepared(ByteBufferUtil.bytes(p)));
        assertThat(statement.key().getKey()).isEqualTo(ByteBufferUtil.bytes(p));
        assertThat(statement.conditional()).isPresent();
      }
    } finally {
      isOver.set(true);
    }
    clearing.get();
  }

  private static DecisionRequest prepared(ByteBuffer p) {
    return new DecisionRequest(
        CassandraInProcess.KEYSPACE,
        List.of(INSERT),
        List.of(List.of(p)),
        true,
        false,
        ProtocolVersion.CURRENT.asInt(),
        System.currentTimeMillis() / 1_000);
  }
}
