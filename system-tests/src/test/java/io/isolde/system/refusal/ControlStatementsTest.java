// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.refusal;

import static io.isolde.system.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.DefaultProtocolVersion;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.cql.Statement;
import com.datastax.oss.driver.api.core.servererrors.InvalidQueryException;
import com.datastax.oss.driver.api.core.servererrors.SyntaxError;
import io.isolde.client.ErrorCode;
import io.isolde.client.Transaction;
import io.isolde.system.Results;
import io.isolde.system.SystemNode;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** START TRANSACTION, COMMIT and ROLLBACK on the wire, as any driver sends them. */
class ControlStatementsTest {

  private static final SystemNode NODE = SystemNode.shared();
  private static final String TABLE = NODE.table("id int PRIMARY KEY, v int");

  /** One connection, for tests that leave no transaction on it. */
  private static CqlSession shared;

  @BeforeAll
  static void connect() {
    shared = NODE.connectSerially();
  }

  @AfterAll
  static void disconnect() {
    shared.close();
  }

  @ParameterizedTest
  @EnumSource(
      value = DefaultProtocolVersion.class,
      names = {"V4", "V5"})
  void whenOnAConnectionThenStatementsBelongToItsTransaction(DefaultProtocolVersion version) {
    try (CqlSession connection = connect(version);
        CqlSession other = connect(version)) {
      Row started = connection.execute("START TRANSACTION ISOLATION LEVEL SNAPSHOT").one();
      assertThat(started.getString("isolation_level")).isEqualTo("SNAPSHOT");
      int id = version.getCode();
      connection.execute("INSERT INTO %s (id, v) VALUES (%d, 1)".formatted(TABLE, id));
      PreparedStatement select =
          connection.prepare("SELECT v FROM %s WHERE id = ?".formatted(TABLE));
      assertThat(Results.lines(connection.execute(select.bind(id)))).containsExactly("1");
      assertThat(Results.lines(other.execute(select.getQuery().replace("?", "" + id)))).isEmpty();
      Row committed = connection.execute("COMMIT").one();
      assertThat(committed.getUuid("transaction_id")).isEqualTo(started.getUuid("transaction_id"));
      assertThat(committed.getBoolean("committed")).isTrue();
      assertThat(committed.getLong("commit_timestamp"))
          .isGreaterThan(started.getLong("start_timestamp"));
      assertThat(Results.lines(other.execute(select.getQuery().replace("?", "" + id))))
          .containsExactly("1");
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = DefaultProtocolVersion.class,
      names = {"V4", "V5"})
  void whenPreparedThenControlStatementsWorkAgainAndAgain(DefaultProtocolVersion version) {
    try (CqlSession connection = connect(version)) {
      PreparedStatement start = connection.prepare("START TRANSACTION");
      PreparedStatement commit = connection.prepare("COMMIT");
      PreparedStatement rollback = connection.prepare("ROLLBACK");
      for (int round = 1; round <= 3; round++) {
        Row started = connection.execute(start.bind()).one();
        assertThat(started.getString("isolation_level")).isEqualTo("SERIALIZABLE");
        connection.execute("INSERT INTO %s (id, v) VALUES (50, %d)".formatted(TABLE, round));
        assertThat(connection.execute(commit.bind()).one().getBoolean("committed")).isTrue();
        connection.execute(start.bind());
        connection.execute("INSERT INTO %s (id, v) VALUES (50, 100)".formatted(TABLE));
        Row rolledBack = connection.execute(rollback.bind()).one();
        assertThat(rolledBack.getBoolean("committed")).isFalse();
        assertThat(rolledBack.isNull("commit_timestamp")).isTrue();
        assertThat(value(50)).isEqualTo(round);
      }
    }
  }

  @Test
  void whenAConnectionHasATransactionThenAnotherIsRefusedAndTheFirstGoesOn() {
    try (CqlSession connection = NODE.connectSerially()) {
      UUID id = connection.execute("START TRANSACTION").one().getUuid("transaction_id");
      connection.execute("INSERT INTO %s (id, v) VALUES (60, 1)".formatted(TABLE));
      assertThat(
              assertRefused(
                      ErrorCode.TRANSACTION_ALREADY_OPEN,
                      () -> connection.execute("START TRANSACTION READ ONLY"))
                  .transactionId())
          .contains(id);
      assertThat(connection.execute("COMMIT").one().getUuid("transaction_id")).isEqualTo(id);
    }
    assertThat(value(60)).isEqualTo(1);
  }

  @Test
  void whenAConnectionHasNoTransactionThenEndingOneIsRefused() {
    try (CqlSession connection = NODE.connectSerially()) {
      assertRefused(ErrorCode.NO_TRANSACTION, () -> connection.execute("COMMIT"));
      assertRefused(ErrorCode.NO_TRANSACTION, () -> connection.execute("ROLLBACK"));
      connection.execute("START TRANSACTION");
      connection.execute("COMMIT");
      assertRefused(ErrorCode.NO_TRANSACTION, () -> connection.execute("COMMIT"));
    }
  }

  @Test
  void whenACommitConflictsThenTheConnectionIsFreeForTheNext() {
    try (CqlSession connection = NODE.connectSerially()) {
      connection.execute("START TRANSACTION");
      var unused = connection.execute("SELECT * FROM " + TABLE).all();
      connection.execute("INSERT INTO %s (id, v) VALUES (70, 1)".formatted(TABLE));
      NODE.session().execute("INSERT INTO %s (id, v) VALUES (70, 2)".formatted(TABLE));
      assertRefused(ErrorCode.CONFLICT, () -> connection.execute("COMMIT"));
      connection.execute("INSERT INTO %s (id, v) VALUES (70, 3)".formatted(TABLE));
      assertThat(value(70)).isEqualTo(3);
      connection.execute("START TRANSACTION");
      connection.execute("COMMIT");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "START TRANSACTION ISOLATION LEVEL CHAOS",
        "START TRANSACTION ISOLATION LEVEL",
        "START TRANSACTION READ ONLY READ ONLY",
        "START TRANSACTION AS OF yesterday",
        "START TRANSACTION AS OF 99999999999999999999999",
        "START TRANSACTION PLEASE",
        "START TRANSACTION; COMMIT",
        "START",
        "COMMIT WORK NOW",
        "ROLLBACK TO SAVEPOINT a b",
        "ENABLE TRANSACTIONS",
        "ENABLE TRANSACTIONS ON a.b.c",
        "DISABLE TRANSACTIONS FROM systests.t"
      })
  void whenTheSyntaxIsWrongThenItIsASyntaxErrorAndNothingIsOpen(String cql) {
    assertThatThrownBy(() -> shared.execute(cql)).isInstanceOf(SyntaxError.class);
    assertThatThrownBy(() -> shared.prepare(cql)).isInstanceOf(SyntaxError.class);
    assertRefused(ErrorCode.NO_TRANSACTION, () -> shared.execute("COMMIT"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "start transaction",
        "  START\n TRANSACTION ; ",
        "/* one */ START /* two */ TRANSACTION -- three",
        "Start Transaction Isolation Level Serializable Read Only;",
        "START TRANSACTION READ ONLY ISOLATION LEVEL SNAPSHOT"
      })
  void whenWrittenInOtherWaysThenItIsUnderstood(String cql) {
    assertThat(shared.execute(cql).one().getUuid("transaction_id")).isNotNull();
    assertThat(shared.execute("rollback transaction;").one().getBoolean("committed")).isFalse();
  }

  @Test
  void whenThePayloadNamesTheTransactionThenAnyConnectionMayUseIt() {
    UUID id = UUID.randomUUID();
    try (CqlSession one = NODE.connect();
        CqlSession two = NODE.connect()) {
      assertThat(one.execute(bound("START TRANSACTION", text(id))).one().getUuid(0)).isEqualTo(id);
      two.execute(bound("INSERT INTO %s (id, v) VALUES (80, 8)".formatted(TABLE), bytes(id)));
      assertThat(
              Results.lines(
                  one.execute(bound("SELECT v FROM %s WHERE id = 80".formatted(TABLE), bytes(id)))))
          .containsExactly("8");
      assertThat(Results.lines(one.execute("SELECT v FROM %s WHERE id = 80".formatted(TABLE))))
          .isEmpty();
      Row first = two.execute(bound("COMMIT", text(id))).one();
      Row again = one.execute(bound("COMMIT", bytes(id))).one();
      Row prepared =
          one.execute(
                  one.prepare("COMMIT")
                      .bind()
                      .setCustomPayload(Map.of("isolde-transaction", text(id))))
              .one();
      assertThat(again.getFormattedContents()).isEqualTo(first.getFormattedContents());
      assertThat(prepared.getFormattedContents()).isEqualTo(first.getFormattedContents());
      assertThat(first.getBoolean("committed")).isTrue();
    }
  }

  @Test
  void whenStartIsRepeatedWithItsIdThenItIsTheSameTransaction() {
    CqlSession session = NODE.session();
    UUID id = UUID.randomUUID();
    Row first = session.execute(bound("START TRANSACTION", text(id))).one();
    session.execute(bound("INSERT INTO %s (id, v) VALUES (81, 8)".formatted(TABLE), text(id)));
    Row again = session.execute(bound("START TRANSACTION", text(id))).one();
    assertThat(again.getFormattedContents()).isEqualTo(first.getFormattedContents());
    session.execute(bound("COMMIT", text(id)));
    assertThat(value(81)).isEqualTo(8);
    assertRefused(
        ErrorCode.TRANSACTION_ALREADY_OPEN,
        () -> session.execute(bound("START TRANSACTION", text(id))));
  }

  /** Not as if it had the options of the second. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "START TRANSACTION ISOLATION LEVEL SNAPSHOT",
        "START TRANSACTION READ ONLY",
        "START TRANSACTION AS OF 1000000",
        "START TRANSACTION AS OF SNAPSHOT whatever"
      })
  void whenStartIsRepeatedWithOtherOptionsThenItIsRefusedAndTheFirstGoesOn(String other) {
    CqlSession session = NODE.session();
    UUID id = UUID.randomUUID();
    session.execute(bound("START TRANSACTION", text(id)));
    assertRefused(
        ErrorCode.TRANSACTION_ALREADY_OPEN, () -> session.execute(bound(other, text(id))));
    session.execute(bound("INSERT INTO %s (id, v) VALUES (86, 8)".formatted(TABLE), text(id)));
    session.execute(bound("COMMIT", text(id)));
    assertThat(value(86)).isEqualTo(8);
  }

  @Test
  void whenTheCommitConflictedThenRepeatingItSaysSoAgain() {
    CqlSession session = NODE.session();
    UUID id = UUID.randomUUID();
    session.execute(bound("START TRANSACTION", text(id)));
    var unused = session.execute(bound("SELECT * FROM " + TABLE, text(id))).all();
    session.execute(bound("INSERT INTO %s (id, v) VALUES (82, 1)".formatted(TABLE), text(id)));
    session.execute("INSERT INTO %s (id, v) VALUES (82, 2)".formatted(TABLE));
    assertRefused(ErrorCode.CONFLICT, () -> session.execute(bound("COMMIT", text(id))));
    assertRefused(ErrorCode.CONFLICT, () -> session.execute(bound("COMMIT", text(id))));
    assertThat(value(82)).isEqualTo(2);
  }

  @Test
  void whenTheTransactionIsUnknownThenEverythingIsRefused() {
    CqlSession session = NODE.session();
    ByteBuffer unknown = text(UUID.randomUUID());
    for (String cql :
        new String[] {
          "COMMIT",
          "ROLLBACK",
          "SELECT * FROM " + TABLE,
          "INSERT INTO %s (id, v) VALUES (83, 1)".formatted(TABLE)
        }) {
      assertRefused(ErrorCode.TRANSACTION_NOT_FOUND, () -> session.execute(bound(cql, unknown)));
    }
    assertThat(session.execute("SELECT * FROM %s WHERE id = 83".formatted(TABLE)).one()).isNull();
  }

  @Test
  void whenRolledBackThenItIsKnownThatNothingIsCommitted() {
    CqlSession session = NODE.session();
    ByteBuffer id = text(UUID.randomUUID());
    session.execute(bound("START TRANSACTION", id));
    session.execute(bound("INSERT INTO %s (id, v) VALUES (84, 1)".formatted(TABLE), id));
    session.execute(bound("ROLLBACK", id));
    for (String cql : new String[] {"COMMIT", "ROLLBACK", "SELECT * FROM " + TABLE}) {
      assertRefused(ErrorCode.TRANSACTION_ROLLED_BACK, () -> session.execute(bound(cql, id)));
    }
    assertThat(session.execute("SELECT * FROM %s WHERE id = 84".formatted(TABLE)).one()).isNull();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "x", "not-a-uuid-at-all-but-of-the-same-length", "1234"})
  void whenThePayloadIsMalformedThenItIsRefusedAndNothingIsWritten(String payload) {
    ByteBuffer malformed = ByteBuffer.wrap(payload.getBytes(StandardCharsets.UTF_8));
    for (String cql :
        new String[] {
          "START TRANSACTION",
          "COMMIT",
          "SELECT * FROM " + TABLE,
          "INSERT INTO %s (id, v) VALUES (85, 1)".formatted(TABLE)
        }) {
      assertThatThrownBy(() -> NODE.session().execute(bound(cql, malformed)))
          .isInstanceOf(InvalidQueryException.class)
          .hasMessageContaining("isolde-transaction");
    }
    assertThat(NODE.session().execute("SELECT * FROM %s WHERE id = 85".formatted(TABLE)).one())
        .isNull();
  }

  @Test
  void whenAnAnswerHasAWarningThenItArrivesInATransactionToo() {
    ByteBuffer id = text(UUID.randomUUID());
    NODE.session().execute(bound("START TRANSACTION", id));
    var result = NODE.session().execute(bound("SELECT count(*) FROM " + TABLE, id));
    assertThat(result.getExecutionInfo().getWarnings()).isNotEmpty();
    NODE.session().execute(bound("ROLLBACK", id));
  }

  @Test
  void whenTheKeyspaceIsTheConnectionsThenTableNamesAreFoundInIt() {
    String table = NODE.plainTable("id int PRIMARY KEY, v int");
    String bare = table.substring(table.indexOf('.') + 1);
    try (CqlSession connection =
        NODE.connect(
            config -> config,
            builder ->
                builder.withKeyspace(SystemNode.KEYSPACE).withApplicationName("isolde-serial"))) {
      connection.execute("ENABLE TRANSACTIONS ON " + bare);
      connection.execute("START TRANSACTION");
      connection.execute("INSERT INTO %s (id, v) VALUES (1, 1)".formatted(bare));
      connection.execute("COMMIT");
      assertThat(Results.lines(connection.execute("SELECT v FROM " + bare))).containsExactly("1");
    }
  }

  @Test
  void whenATransactionIsKilledThenItIsListedNoLongerAndNothingOfItIsCommitted() {
    Transaction tx = NODE.isolde().begin();
    tx.execute("INSERT INTO %s (id, v) VALUES (77, 1)".formatted(TABLE));
    UUID id = tx.id();
    CqlSession session = NODE.session();
    assertThat(session.execute("LIST TRANSACTIONS").all())
        .anyMatch(row -> row.getUuid("transaction_id").equals(id));
    assertThat(session.execute("LIST TRANSACTION " + id).one().getString("outcome"))
        .isEqualTo("UNDECIDED");
    assertThat(session.execute("kill transaction %s;".formatted(id)).one().getBoolean("killed"))
        .isTrue();
    assertThat(session.execute("SHOW TRANSACTIONS").all())
        .noneMatch(row -> row.getUuid("transaction_id").equals(id));
    assertThat(assertRefused(ErrorCode.TRANSACTION_ABORTED, tx::commit))
        .hasMessageContaining("KILL TRANSACTION");
    assertThat(session.execute("SELECT v FROM %s WHERE id = 77".formatted(TABLE)).one()).isNull();
    assertRefused(ErrorCode.TRANSACTION_ABORTED, () -> session.execute("KILL TRANSACTION " + id));
    tx.rollback();
    assertRefused(
        ErrorCode.TRANSACTION_NOT_FOUND,
        () -> session.execute("KILL TRANSACTION " + UUID.randomUUID()));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "BEGIN",
        "begin work;",
        "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE",
        "SET SESSION TRANSACTION READ ONLY",
        "LOCK TABLES a WRITE",
        "lock table a in exclusive mode"
      })
  void whenTheWordsAreOfAnotherDatabaseThenTheSentenceNamesOurs(String cql) {
    assertThatThrownBy(() -> NODE.session().execute(cql))
        .isInstanceOf(SyntaxError.class)
        .hasMessageContaining("START TRANSACTION");
  }

  private static CqlSession connect(DefaultProtocolVersion version) {
    return NODE.connect(
        config -> config.withString(DefaultDriverOption.PROTOCOL_VERSION, version.name()),
        builder -> builder.withApplicationName("isolde-serial"));
  }

  private static int value(int id) {
    return NODE.session()
        .execute("SELECT v FROM %s WHERE id = %d".formatted(TABLE, id))
        .one()
        .getInt("v");
  }

  private static Statement<?> bound(String cql, ByteBuffer id) {
    return SimpleStatement.newInstance(cql).setCustomPayload(Map.of("isolde-transaction", id));
  }

  private static ByteBuffer text(UUID id) {
    return ByteBuffer.wrap(id.toString().getBytes(StandardCharsets.US_ASCII));
  }

  private static ByteBuffer bytes(UUID id) {
    ByteBuffer bytes = ByteBuffer.allocate(16);
    bytes.putLong(id.getMostSignificantBits()).putLong(id.getLeastSignificantBits()).flip();
    return bytes;
  }
}
