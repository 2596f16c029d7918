// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.refusal;

import static io.isolde.system.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.BatchStatement;
import com.datastax.oss.driver.api.core.cql.BatchType;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.cql.Statement;
import com.datastax.oss.driver.api.core.servererrors.InvalidQueryException;
import io.isolde.client.ErrorCode;
import io.isolde.system.Results;
import io.isolde.system.SystemNode;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** START TRANSACTION with the first statement, and COMMIT with the last, on the wire. */
class RequestsSavedTest {
  private static final SystemNode NODE = SystemNode.shared();
  private static final String TABLE = NODE.table("id int PRIMARY KEY, v int, l list<int>");
  private static final String START = "START TRANSACTION";

  private final UUID id = UUID.randomUUID();

  @Test
  void whenStartComesWithAReadThenTheTransactionIsOpenAndItsTimestampIsTold() {
    execute("INSERT INTO %s (id, v) VALUES (1, 1)".formatted(TABLE));
    ResultSet read = execute(starting("SELECT v FROM %s WHERE id = 1".formatted(TABLE), START));
    execute("UPDATE %s SET v = 2 WHERE id = 1".formatted(TABLE));
    ResultSet again = execute(in("SELECT v FROM %s WHERE id = 1".formatted(TABLE), Map.of()));
    Row started = execute(in(START, Map.of())).one();

    assertThat(Results.lines(read)).containsExactly("1");
    assertThat(Results.lines(again)).as("the same snapshot").containsExactly("1");
    assertThat(text(read.getExecutionInfo().getIncomingPayload().get("isolde-start-timestamp")))
        .isEqualTo("" + started.getLong("start_timestamp"));
    assertThat(again.getExecutionInfo().getIncomingPayload()).isEmpty();
    execute(in("ROLLBACK", Map.of()));
  }

  @Test
  void whenTheAnswerHasWarningsThenItArrivesWithoutTheTimestamp() {
    ResultSet read = execute(starting("SELECT count(*) FROM " + TABLE, START));

    assertThat(read.getExecutionInfo().getWarnings()).isNotEmpty();
    assertThat(read.getExecutionInfo().getIncomingPayload()).isEmpty();
    assertThat(execute(in(START, Map.of())).one().getLong("start_timestamp")).isPositive();
    execute(in("ROLLBACK", Map.of()));
  }

  @Test
  void whenStartHasOptionsThenTheyHold() {
    String readOnly = "START TRANSACTION ISOLATION LEVEL SNAPSHOT READ ONLY";
    execute(starting("SELECT v FROM %s WHERE id = 1".formatted(TABLE), readOnly));

    assertRefused(
        ErrorCode.READ_ONLY_TRANSACTION,
        () -> execute(in("UPDATE %s SET v = 2 WHERE id = 1".formatted(TABLE), Map.of())));
    execute(in("ROLLBACK", Map.of()));
  }

  @Test
  void whenCommitComesWithABatchThenItsAnswerIsThatOfCommit() {
    CqlSession session = NODE.session();
    PreparedStatement update = session.prepare("UPDATE %s SET v = ? WHERE id = ?".formatted(TABLE));
    BatchStatement batch =
        BatchStatement.newInstance(BatchType.UNLOGGED, update.bind(5, 20), update.bind(6, 21));
    execute(starting("INSERT INTO %s (id, v) VALUES (22, 7)".formatted(TABLE), START));

    Row committed = execute(committing(batch)).one();
    Row again = execute(committing(batch)).one();
    Row plainly = execute(in("COMMIT", Map.of())).one();

    assertThat(committed.getUuid("transaction_id")).isEqualTo(id);
    assertThat(committed.getBoolean("committed")).isTrue();
    assertThat(again.getFormattedContents()).isEqualTo(committed.getFormattedContents());
    assertThat(plainly.getFormattedContents()).isEqualTo(committed.getFormattedContents());
    assertThat(Results.lines(execute("SELECT v FROM %s WHERE id IN (20, 21, 22)".formatted(TABLE))))
        .containsExactlyInAnyOrder("5", "6", "7");
  }

  @Test
  void whenAllComesWithOneRequestThenItIsAWholeTransaction() {
    Statement<?> write = SimpleStatement.newInstance(append(30));
    Statement<?> all = with(write, Map.of("isolde-start", START, "isolde-commit", "1"));

    Row committed = execute(all).one();

    assertThat(committed.getBoolean("committed")).isTrue();
    assertThat(listOf(30)).containsExactly(1);
    assertRefused(ErrorCode.TRANSACTION_ALREADY_OPEN, () -> execute(all));
    assertThat(execute(in(append(30), Map.of("isolde-commit", "1"))).one().getBoolean("committed"))
        .isTrue();
    assertThat(listOf(30)).as("written once, however often it is sent").containsExactly(1);
  }

  @Test
  void whenTheLastWritesAreRefusedThenTheTransactionIsOver() {
    execute(starting("INSERT INTO %s (id, v) VALUES (40, 1)".formatted(TABLE), START));
    String plain = NODE.plainTable("id int PRIMARY KEY, v int");

    assertRefused(
        ErrorCode.NOT_TRANSACTIONAL,
        () ->
            execute(
                in(
                    "INSERT INTO %s (id, v) VALUES (1, 1)".formatted(plain),
                    Map.of("isolde-commit", "1"))));
    assertRefused(ErrorCode.TRANSACTION_ABORTED, () -> execute(in("COMMIT", Map.of())));
    assertThat(execute("SELECT * FROM %s WHERE id = 40".formatted(TABLE)).one()).isNull();
  }

  @Test
  void whenTheLastWritesAreRepeatedThenWhatIsDecidedIsTheAnswerWhateverBecameOfTheTable() {
    String table = NODE.table("id int PRIMARY KEY, v int");
    Statement<?> last =
        in("INSERT INTO %s (id, v) VALUES (1, 1)".formatted(table), Map.of("isolde-commit", "1"));
    execute(starting("SELECT * FROM %s WHERE id = 1".formatted(table), START));
    Row committed = execute(last).one();
    execute("DISABLE TRANSACTIONS ON " + table);

    assertThat(execute(last).one().getFormattedContents())
        .isEqualTo(committed.getFormattedContents());
  }

  @Test
  void whenFurtherPagesAreReadThenTheyBeginNoOtherTransaction() {
    for (int row = 70; row < 75; row++) {
      execute("INSERT INTO %s (id, v) VALUES (%d, 1)".formatted(TABLE, row));
    }
    Statement<?> read =
        starting("SELECT id FROM %s WHERE v = 1 ALLOW FILTERING".formatted(TABLE), START)
            .setPageSize(1);
    ResultSet first = execute(read);
    execute(in("ROLLBACK", Map.of()));

    assertRefused(ErrorCode.TRANSACTION_ROLLED_BACK, first::all);
  }

  @Test
  void whenTheLastWritesConflictThenThatIsTheAnswerAgainAndAgain() {
    execute(starting("SELECT * FROM %s WHERE id = 50".formatted(TABLE), START));
    execute("INSERT INTO %s (id, v) VALUES (50, 2)".formatted(TABLE));
    Statement<?> last =
        in("INSERT INTO %s (id, v) VALUES (50, 3)".formatted(TABLE), Map.of("isolde-commit", "1"));

    assertRefused(ErrorCode.CONFLICT, () -> execute(last));
    assertRefused(ErrorCode.CONFLICT, () -> execute(last));
    assertThat(Results.lines(execute("SELECT v FROM %s WHERE id = 50".formatted(TABLE))))
        .containsExactly("2");
  }

  @Test
  void whenThePayloadMakesNoSenseThenNothingIsDone() {
    String write = "INSERT INTO %s (id, v) VALUES (60, 1)".formatted(TABLE);
    List<Statement<?>> wrong =
        List.of(
            in("SELECT * FROM " + TABLE, Map.of("isolde-start", START, "isolde-commit", "1")),
            in(write, Map.of("isolde-start", "COMMIT")),
            SimpleStatement.newInstance(write)
                .setCustomPayload(Map.of("isolde-commit", bytes("1"))));
    for (Statement<?> statement : wrong) {
      assertThatThrownBy(() -> execute(statement))
          .isInstanceOf(InvalidQueryException.class)
          .hasMessageContaining("isolde-");
    }
    assertThat(execute("SELECT * FROM %s WHERE id = 60".formatted(TABLE)).one()).isNull();
  }

  private static String append(int row) {
    return "UPDATE %s SET l = l + [1] WHERE id = %d".formatted(TABLE, row);
  }

  private static List<Integer> listOf(int row) {
    return execute("SELECT l FROM %s WHERE id = %d".formatted(TABLE, row))
        .one()
        .getList("l", Integer.class);
  }

  private static ResultSet execute(String cql) {
    return NODE.session().execute(cql);
  }

  private static ResultSet execute(Statement<?> statement) {
    return NODE.session().execute(statement);
  }

  private Statement<?> starting(String cql, String start) {
    return in(cql, Map.of("isolde-start", start));
  }

  private Statement<?> committing(Statement<?> statement) {
    return with(statement, Map.of("isolde-commit", "1"));
  }

  private Statement<?> in(String cql, Map<String, String> more) {
    return with(SimpleStatement.newInstance(cql), more);
  }

  private Statement<?> with(Statement<?> statement, Map<String, String> more) {
    Map<String, ByteBuffer> payload = new HashMap<>();
    payload.put("isolde-transaction", bytes(id.toString()));
    more.forEach((name, value) -> payload.put(name, bytes(value)));
    return statement.setCustomPayload(payload);
  }

  private static ByteBuffer bytes(String text) {
    return ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII));
  }

  private static String text(ByteBuffer bytes) {
    return StandardCharsets.US_ASCII.decode(bytes.duplicate()).toString();
  }
}
