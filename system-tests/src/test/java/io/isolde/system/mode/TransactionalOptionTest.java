// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.mode;

import static io.isolde.system.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.servererrors.InvalidQueryException;
import io.isolde.client.ErrorCode;
import io.isolde.system.SystemNode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** WITH transactional_mode = …, as schemas for Cassandra 6 have it. */
class TransactionalOptionTest {
  private static final SystemNode NODE = SystemNode.shared();

  private final String table = SystemNode.KEYSPACE + "." + SystemNode.freshName("option");

  private ResultSet execute(String text) {
    return NODE.session().execute(text.replace("$t", table));
  }

  private boolean isTransactional() {
    try {
      execute("BEGIN TRANSACTION INSERT INTO $t (id, v) VALUES (1, 1); COMMIT TRANSACTION");
      return true;
    } catch (InvalidQueryException e) {
      assertThat(e).hasMessageContaining(ErrorCode.NOT_TRANSACTIONAL.name());
      return false;
    }
  }

  @Test
  void aTableMayBeCreatedTransactional() {
    execute(
        "CREATE TABLE $t (id int PRIMARY KEY, v int) WITH comment = 'x' AND transactional_mode ="
            + " 'full' AND gc_grace_seconds = 99");
    assertThat(isTransactional()).isTrue();
    assertThat(
            NODE.session()
                .execute(
                    "SELECT comment, gc_grace_seconds FROM system_schema.tables WHERE keyspace_name"
                        + " = ? AND table_name = ?",
                    SystemNode.KEYSPACE,
                    table.substring(SystemNode.KEYSPACE.length() + 1))
                .one()
                .getInt(1))
        .isEqualTo(99);
  }

  @Test
  void aTableMayBeAlteredToAndFro() {
    execute("CREATE TABLE $t (id int PRIMARY KEY, v int) WITH transactional_mode = 'off'");
    assertThat(isTransactional()).isFalse();
    execute("ALTER TABLE $t WITH transactional_mode = 'mixed_reads'");
    assertThat(isTransactional()).isTrue();
    execute("ALTER TABLE $t WITH transactional_mode = 'off' AND comment = 'y'");
    assertThat(isTransactional()).isFalse();
    execute("ALTER TABLE $t WITH transactional_mode = 'FULL' AND comment = 'z'");
    assertThat(isTransactional()).isTrue();
  }

  @Test
  void anotherModeIsRefusedAndNothingIsCreated() {
    assertRefused(
        ErrorCode.INVALID_REQUEST,
        () ->
            execute("CREATE TABLE $t (id int PRIMARY KEY, v int) WITH transactional_mode = 'no'"));
    assertThatThrownBy(() -> execute("SELECT * FROM $t")).isInstanceOf(InvalidQueryException.class);
  }

  @Test
  void aTableThatIsThereStaysAsItIs() {
    execute("CREATE TABLE $t (id int PRIMARY KEY, v int)");
    ResultSet answer =
        execute(
            "CREATE TABLE IF NOT EXISTS $t (id int PRIMARY KEY, v int) WITH transactional_mode ="
                + " 'full'");
    assertThat(isTransactional()).isFalse();
    assertThat(answer.getExecutionInfo().getWarnings())
        .anyMatch(warning -> warning.contains("ENABLE TRANSACTIONS"));
    execute("ALTER TABLE IF EXISTS $t_missing WITH transactional_mode = 'full'");
    assertThatThrownBy(() -> execute("ALTER TABLE $t_missing WITH transactional_mode = 'full'"))
        .isInstanceOf(InvalidQueryException.class);
  }

  @Test
  void aTableThatCanNotBeTransactionalIsCreatedPlain() {
    assertThatThrownBy(
            () ->
                execute(
                    "CREATE TABLE $t (id int PRIMARY KEY, v counter) WITH transactional_mode ="
                        + " 'full'"))
        .hasMessageContaining("The table is created, but it is plain")
        .hasMessageContaining(ErrorCode.UNSUPPORTED_TABLE.name());
    assertThat(execute("SELECT * FROM $t").all()).isEmpty();
  }

  private static void executeUnlessAnotherDoes(PreparedStatement change) {
    try {
      NODE.session().execute(change.bind());
    } catch (InvalidQueryException e) {
      assertThat(e).hasMessageContaining(ErrorCode.UNAVAILABLE.name());
    }
  }

  @Test
  void preparedStatementsKeepTheOption() {
    execute("CREATE TABLE $t (id int PRIMARY KEY, v int)");
    PreparedStatement on =
        NODE.session().prepare("ALTER TABLE %s WITH transactional_mode = 'full'".formatted(table));
    for (int i = 0; i < 2; i++) {
      List<CompletableFuture<Void>> clients = new ArrayList<>();
      for (int client = 0; client < 4; client++) {
        clients.add(CompletableFuture.runAsync(() -> executeUnlessAnotherDoes(on)));
      }
      clients.forEach(CompletableFuture::join);
      assertThat(isTransactional()).isTrue();
      execute("ALTER TABLE $t WITH transactional_mode = 'off'");
      assertThat(isTransactional()).isFalse();
    }
  }
}
