// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.refusal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.isolde.client.Transaction;
import io.isolde.cluster.ClusterException;
import io.isolde.system.SystemNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The jar alone makes a node one of Isolde, and one with another query handler does not start. */
class QueryHandlerTest {
  private static final String OPTION = "cassandra.custom_query_handler_class";

  @Test
  void whenNoOptionNamesTheHandlerThenTransactionsWork() throws IOException {
    SystemNode node = SystemNode.shared();
    try (Stream<Path> files = Files.walk(node.process().folder().resolve("conf"))) {
      assertThat(files.filter(Files::isRegularFile))
          .isNotEmpty()
          .allSatisfy(file -> assertThat(file).content().doesNotContain(OPTION));
    }
    String table = node.table("k int PRIMARY KEY, v int");
    try (Transaction transaction = node.isolde().begin()) {
      transaction.execute("INSERT INTO " + table + " (k, v) VALUES (1, 2)");
      assertThat(transaction.execute("SELECT v FROM " + table).all()).hasSize(1);
      assertThat(node.session().execute("SELECT v FROM " + table).all()).isEmpty();
      transaction.commit();
    }
    assertThat(node.session().execute("SELECT v FROM " + table).all()).hasSize(1);
  }

  @Test
  void whenAnotherHandlerIsConfiguredThenTheNodeDoesNotStart() {
    String other = "org.apache.cassandra.cql3.CustomPayloadMirroringQueryHandler";
    SystemNode node =
        SystemNode.create(
            "other-handler", "127.0.31.33", spec -> spec.withSystemProperty(OPTION, other));
    try (node) {
      assertThatThrownBy(() -> node.process().start())
          .isInstanceOfSatisfying(
              ClusterException.class,
              e -> assertThat(e.reason()).isEqualTo(ClusterException.Reason.NODE_DIED))
          .hasMessageContaining("-D" + OPTION + "=" + other + " sets another one")
          .hasMessageContaining("Take this option away");
    }
  }
}
