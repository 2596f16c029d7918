// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.refusal;

import static io.isolde.system.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.datastax.oss.driver.api.core.servererrors.UnavailableException;
import io.isolde.client.ErrorCode;
import io.isolde.system.Results;
import io.isolde.system.SystemNode;
import org.junit.jupiter.api.Test;

/** A keyspace that wants more replicas than there are nodes. */
class TooFewReplicasTest {

  @Test
  void whenTheReplicasAreMissingThenOthersGoOnAndNothingIsHalfDone() {
    try (SystemNode node =
        SystemNode.start(
            "too-few-replicas",
            "127.0.31.6",
            spec -> spec.withIsoldeSetting("commit_timeout", "2s"))) {
      node.useKeyspace();
      String good = node.table("id int PRIMARY KEY, v int");
      node.session()
          .execute(
              "CREATE KEYSPACE wide WITH replication ="
                  + " {'class': 'SimpleStrategy', 'replication_factor': 3}");
      node.session().execute("CREATE TABLE wide.t (id int PRIMARY KEY, v int)");
      node.session().execute("ENABLE TRANSACTIONS ON wide.t");
      Throwable refused =
          catchThrowable(() -> node.session().execute("INSERT INTO wide.t (id, v) VALUES (1, 1)"));
      if (refused instanceof UnavailableException) {
        node.session().execute("INSERT INTO %s (id, v) VALUES (1, 1)".formatted(good));
        assertThat(Results.lines(node.session().execute("SELECT v FROM " + good)))
            .containsExactly("1");
        return;
      }
      assertRefused(
          ErrorCode.APPLY_PENDING,
          () -> {
            throw refused;
          });
      node.session().execute("INSERT INTO %s (id, v) VALUES (1, 1)".formatted(good));
    }
  }
}
