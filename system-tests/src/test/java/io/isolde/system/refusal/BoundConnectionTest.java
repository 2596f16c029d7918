// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.refusal;

import static io.isolde.system.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.servererrors.SyntaxError;
import io.isolde.client.ErrorCode;
import io.isolde.system.Await;
import io.isolde.system.Results;
import io.isolde.system.SystemNode;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Transactions that are bound to a connection, and what becomes of them when that is lost. */
class BoundConnectionTest {
  private static final SystemNode NODE = SystemNode.shared();
  private static final String TABLE = NODE.table("id int PRIMARY KEY, v int");

  /** Another thread's write on the same connection would be in the transaction. */
  @Test
  void whenAConnectionIsAnyDriversThenStartWithoutAnIdIsRefusedAndSaysHow() {
    assertThat(
            assertRefused(
                ErrorCode.TRANSACTION_ID_REQUIRED,
                () -> NODE.session().execute("START TRANSACTION")))
        .hasMessageContaining("isolde-transaction");
    NODE.session().execute(insert(1));
    assertThat(ids()).contains(1);
  }

  @Test
  void whenAConnectionIsClosedThenItsTransactionEndsAtOnce() {
    UUID id;
    try (CqlSession connection = serial(UUID.randomUUID())) {
      id = connection.execute("START TRANSACTION").one().getUuid("transaction_id");
      connection.execute(insert(10));
      assertThat(isOpen(id)).isTrue();
    }
    Await.until("the transaction has ended", () -> !isOpen(id));
    assertThat(ids()).doesNotContain(10);
  }

  /** As a driver does by itself: the application knows nothing of it. */
  @Test
  void whenAClientGoesOnWithAnotherConnectionThenNothingIsWrittenUntilItHasHeardOfIt() {
    UUID client = UUID.randomUUID();
    UUID id;
    try (CqlSession first = serial(client)) {
      id = first.execute("START TRANSACTION").one().getUuid("transaction_id");
      first.execute(insert(20));
    }
    Await.until("the transaction has ended", () -> !isOpen(id));
    try (CqlSession second = serial(client)) {
      assertRefused(ErrorCode.TRANSACTION_EXPIRED, () -> second.execute(insert(21)));
      assertRefused(ErrorCode.TRANSACTION_EXPIRED, () -> second.execute("SELECT * FROM " + TABLE));
      assertRefused(ErrorCode.TRANSACTION_EXPIRED, () -> second.execute("COMMIT"));
      second.execute(insert(22));
    }
    assertThat(ids()).contains(22).doesNotContain(20, 21);
  }

  /** It is not serial, or the node has not noticed yet that the first connection is gone. */
  @Test
  void whenAClientUsesTwoConnectionsAtOnceThenTheTransactionEnds() {
    UUID client = UUID.randomUUID();
    try (CqlSession first = serial(client);
        CqlSession second = serial(client)) {
      first.execute("START TRANSACTION");
      first.execute(insert(30));
      assertRefused(ErrorCode.TRANSACTION_EXPIRED, () -> second.execute(insert(31)));
      assertRefused(ErrorCode.TRANSACTION_EXPIRED, () -> first.execute(insert(32)));
      assertRefused(ErrorCode.TRANSACTION_EXPIRED, () -> first.execute("COMMIT"));
      assertThat(second.execute("ROLLBACK").one().getBoolean("committed")).isFalse();
    }
    assertThat(ids()).doesNotContain(30, 31, 32);
  }

  /** A script that goes on after an error must not commit a part of a transaction. */
  @Test
  void whenATextCannotBeParsedThenItsTransactionHasEnded() {
    try (CqlSession connection = serial(UUID.randomUUID())) {
      connection.execute("START TRANSACTION");
      assertThatThrownBy(() -> connection.execute("UPDAT x")).isInstanceOf(SyntaxError.class);
      assertRefused(ErrorCode.TRANSACTION_ABORTED, () -> connection.execute(insert(40)));
      assertRefused(ErrorCode.TRANSACTION_ABORTED, () -> connection.execute("COMMIT"));
      assertRefused(ErrorCode.NO_TRANSACTION, () -> connection.execute("COMMIT"));
    }
    assertThat(ids()).doesNotContain(40);
  }

  private static CqlSession serial(UUID client) {
    return NODE.connect(
        config -> config,
        builder -> builder.withApplicationName("isolde-serial").withClientId(client));
  }

  private static String insert(int id) {
    return "INSERT INTO %s (id, v) VALUES (%d, 1)".formatted(TABLE, id);
  }

  private static Iterable<Integer> ids() {
    return Results.lines(NODE.session().execute("SELECT id FROM " + TABLE)).stream()
        .map(Integer::valueOf)
        .toList();
  }

  private static boolean isOpen(UUID id) {
    return Results.lines(NODE.session().execute("SELECT transaction_id FROM isolde.transactions"))
        .contains(id.toString());
  }
}
