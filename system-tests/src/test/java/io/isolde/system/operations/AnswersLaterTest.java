// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.operations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.DefaultProtocolVersion;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.cql.AsyncResultSet;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.servererrors.InvalidQueryException;
import io.isolde.cluster.NodeTool;
import io.isolde.system.SystemNode;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Writes that are answered after their handler has returned, as drivers see them. */
class AnswersLaterTest {
  private static final SystemNode NODE = SystemNode.shared();
  private static final int WRITES = 300;

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
}
