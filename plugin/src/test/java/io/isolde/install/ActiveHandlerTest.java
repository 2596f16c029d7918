// SPDX-License-Identifier: Apache-2.0
package io.isolde.install;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.isolde.replication.ReplicatedLogStrategy;
import io.isolde.testing.CassandraInProcess;
import io.isolde.version.VersionIndex;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Of a node whose clients do not come to Isolde, as is the one in the process of the tests. */
class ActiveHandlerTest {

  @BeforeAll
  static void start() {
    CassandraInProcess.start();
  }

  @Test
  void whenAClientWritesToATransactionalTableThenItIsRefusedAndNothingIsWritten() {
    CassandraInProcess.execute("CREATE TABLE test.unguarded (p int PRIMARY KEY, v int)");
    CassandraInProcess.executeAsAClient("INSERT INTO test.unguarded (p, v) VALUES (0, 0)");
    CassandraInProcess.execute(
        "CREATE CUSTOM INDEX ON test.unguarded () USING '%s'"
            .formatted(VersionIndex.class.getName()));
    assertIsRefused("INSERT INTO test.unguarded (p, v) VALUES (1, 1)", "UNSUPPORTED_TABLE");
    assertIsRefused(
        "BEGIN BATCH DELETE FROM test.unguarded WHERE p = 0 APPLY BATCH", "UNSUPPORTED_TABLE");
    assertThat(CassandraInProcess.execute("SELECT p FROM test.unguarded")).hasSize(1);
    CassandraInProcess.execute("DROP TABLE test.unguarded");
  }

  @Test
  void whenAClientWritesToAStrongKeyspaceThenItIsRefusedAndNothingIsWritten() {
    CassandraInProcess.execute(
        "CREATE KEYSPACE unguarded WITH replication = {'class': '%s', 'replication_factor': 1}"
            .formatted(ReplicatedLogStrategy.class.getName()));
    CassandraInProcess.execute("CREATE TABLE unguarded.t (p int PRIMARY KEY, v int)");
    assertIsRefused("INSERT INTO unguarded.t (p, v) VALUES (1, 1)", "UNSUPPORTED_KEYSPACE");
    assertThat(CassandraInProcess.execute("SELECT p FROM unguarded.t")).isEmpty();
    CassandraInProcess.execute("DROP KEYSPACE unguarded");
  }

  private static void assertIsRefused(String write, String code) {
    assertThatThrownBy(() -> CassandraInProcess.executeAsAClient(write))
        .hasMessageContaining("its clients do not come to Isolde. Install isolde.jar")
        .hasMessageContaining("code=%s retryable=false", code);
  }
}
