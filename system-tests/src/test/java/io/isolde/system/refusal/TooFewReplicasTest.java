// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.refusal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.isolde.client.IsoldeException;
import io.isolde.client.Outcome;
import io.isolde.client.Transaction;
import io.isolde.client.TransactionOptions;
import io.isolde.system.Results;
import io.isolde.system.SystemNode;
import java.time.Duration;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A keyspace that wants more replicas than there are nodes: nothing in it can be committed. */
class TooFewReplicasTest {

  private static final SystemNode NODE = SystemNode.shared();
  private static final String WIDE = SystemNode.freshName("wide") + ".t";
  private final String good = NODE.table("id int PRIMARY KEY, v int");

  @BeforeAll
  static void createTable() {
    NODE.session()
        .execute(
            "CREATE KEYSPACE %s WITH replication =".formatted(WIDE.substring(0, WIDE.indexOf('.')))
                + " {'class': 'SimpleStrategy', 'replication_factor': 3}");
    NODE.session().execute("CREATE TABLE %s (id int PRIMARY KEY, v int)".formatted(WIDE));
    NODE.session().execute("ENABLE TRANSACTIONS ON " + WIDE);
  }

  @Test
  void whenThereIsNoQuorumThenNothingIsDecidedAndOthersGoOn() {
    String write = "INSERT INTO %s (id, v) VALUES (1, 1)".formatted(WIDE);
    assertThatThrownBy(() -> NODE.session().execute(write))
        .hasMessageContaining("Not enough replicas");
    TransactionOptions options =
        TransactionOptions.builder().timeLimit(Duration.ofSeconds(1)).build();
    try (Transaction transaction = NODE.isolde().begin(options)) {
      transaction.execute(write);
      transaction.execute("INSERT INTO %s (id, v) VALUES (2, 2)".formatted(good));
      IsoldeException error = catchThrowableOfType(IsoldeException.class, transaction::commit);
      assertThat(error.outcome()).as(error.getMessage()).isEqualTo(Outcome.NOT_COMMITTED);
      assertThat(error.isRetryable()).as(error.getMessage()).isTrue();
    }
    NODE.session().execute("INSERT INTO %s (id, v) VALUES (1, 1)".formatted(good));
    assertThat(Results.lines(NODE.session().execute("SELECT v FROM " + good))).containsExactly("1");
  }
}
