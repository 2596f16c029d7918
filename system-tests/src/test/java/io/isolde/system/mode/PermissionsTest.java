// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.mode;

import static io.isolde.system.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.cql.Statement;
import com.datastax.oss.driver.api.core.servererrors.UnauthorizedException;
import io.isolde.client.ErrorCode;
import io.isolde.client.Isolde;
import io.isolde.client.Transaction;
import io.isolde.system.Results;
import io.isolde.system.SystemNode;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Users may do in transactions what they may do without, and keep to their own transactions. */
class PermissionsTest {

  private static final String TABLE = "systests.accounts";
  private static final String PLAIN = "systests.plain";

  static SystemNode node;
  static CqlSession admin;
  private static CqlSession owner;
  private static CqlSession reader;
  private static CqlSession stranger;

  @BeforeAll
  static void startNodeWithUsers() throws Exception {
    node =
        SystemNode.start(
            "permissions",
            "127.0.31.4",
            spec ->
                spec.withCassandraSetting("authenticator", "PasswordAuthenticator")
                    .withCassandraSetting("authorizer", "CassandraAuthorizer")
                    .withCassandraSetting("network_authorizer", "CassandraNetworkAuthorizer")
                    .withCassandraSetting(
                        "cidr_authorizer",
                        "{class_name: CassandraCIDRAuthorizer,"
                            + " parameters: {cidr_authorizer_mode: ENFORCE}}")
                    .withCassandraSetting("permissions_validity", "0ms")
                    .withCassandraSetting("roles_validity", "0ms")
                    .withCassandraSetting("dynamic_data_masking_enabled", "true")
                    .withCassandraSetting("user_defined_functions_enabled", "true")
                    .withCassandraSetting("partition_denylist_enabled", "true")
                    .withCassandraSetting("denylist_consistency_level", "LOCAL_ONE")
                    .withCassandraSetting("tombstone_warn_threshold", "5")
                    .withCassandraSetting("allow_filtering_enabled", "false")
                    .withCassandraSetting("group_by_enabled", "false")
                    .withCassandraSetting("user_timestamps_enabled", "false")
                    .withCassandraSetting("page_size_fail_threshold", "5000")
                    .withCassandraSetting("partition_keys_in_select_fail_threshold", "3")
                    .withCassandraSetting("column_value_size_fail_threshold", "1KiB")
                    .withCassandraSetting("items_per_collection_fail_threshold", "5")
                    .withCassandraSetting("read_consistency_levels_disallowed", "[THREE]")
                    .withCassandraSetting("write_consistency_levels_disallowed", "[THREE]")
                    .withCassandraSetting(
                        "audit_logging_options",
                        "{enabled: true, logger: [{class_name: FileAuditLogger}]}")
                    .withSystemProperty("cassandra.superuser_setup_delay_ms", "0")
                    .withSystemProperty("cassandra.auth_bcrypt_gensalt_log2_rounds", "4"));
    admin = loggedIn("cassandra", "cassandra");
    admin.execute(
        "CREATE KEYSPACE systests WITH replication ="
            + " {'class': 'SimpleStrategy', 'replication_factor': 1}");
    for (String table : new String[] {TABLE, PLAIN}) {
      admin.execute("CREATE TABLE %s (id int PRIMARY KEY, v int)".formatted(table));
    }
    admin.execute("ENABLE TRANSACTIONS ON " + TABLE);
    for (String user : new String[] {"owner", "reader", "stranger"}) {
      admin.execute("CREATE ROLE %s WITH PASSWORD = '%s' AND LOGIN = true".formatted(user, user));
    }
    for (String table : new String[] {TABLE, PLAIN}) {
      admin.execute("GRANT SELECT ON %s TO reader".formatted(table));
      admin.execute("GRANT ALL ON %s TO owner".formatted(table));
    }
    owner = loggedIn("owner", "owner");
    reader = loggedIn("reader", "reader");
    stranger = loggedIn("stranger", "stranger");
  }

  /** The first user is made a moment after the node answers. */
  static CqlSession loggedIn(String user, String password) throws InterruptedException {
    for (int attempt = 1; ; attempt++) {
      try {
        return node.connect(
            config -> config, builder -> builder.withAuthCredentials(user, password));
      } catch (RuntimeException e) {
        if (attempt == 60) {
          throw e;
        }
        Thread.sleep(500);
      }
    }
  }

  /** A moment at which all is there that was written so far. */
  static long stableNow() {
    try (Transaction now = Isolde.on(admin).begin()) {
      return now.startTimestamp();
    }
  }

  @Nested
  class OnEveryPath extends ChecksOnEveryPath {}

  @Nested
  class UniqueIndexes extends UniqueIndexesOfUsers {}

  @AfterAll
  static void stopNode() {
    for (CqlSession session : new CqlSession[] {admin, owner, reader, stranger}) {
      if (session != null) {
        session.close();
      }
    }
    node.close();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "INSERT INTO $t (id, v) VALUES (1, 1)",
        "UPDATE $t SET v = 1 WHERE id = 1",
        "DELETE FROM $t WHERE id = 1",
        "BEGIN BATCH INSERT INTO $t (id, v) VALUES (1, 1); APPLY BATCH",
        "TRUNCATE $t"
      })
  void whenAUserMayOnlyReadThenWritesAreRefusedAsOnAPlainTable(String cql) {
    assertRefusedAlike(reader, cql);
    assertRefusedAlike(stranger, cql);
  }

  @ParameterizedTest
  @ValueSource(strings = {"SELECT * FROM $t", "SELECT v FROM $t WHERE id = 1"})
  void whenAUserMayNotReadThenReadsAreRefusedAsOnAPlainTable(String cql) {
    assertRefusedAlike(stranger, cql);
    assertThat(Results.lines(reader.execute(cql.replace("$t", TABLE)))).isNotNull();
    try (Transaction transaction = Isolde.on(reader).begin()) {
      assertThat(Results.lines(transaction.execute(cql.replace("$t", TABLE)))).isNotNull();
      transaction.commit();
    }
  }

  /** Of a node with an audit log, each watch holds a thread. */
  @Test
  void whenAUserMayNotReadThenHeMayNotWatchAndWhoMayIsAnswered() throws Exception {
    String watch = "SELECT CHANGES FROM " + TABLE + " WHERE id = 1 AFTER %s WITHIN %d MILLISECONDS";
    assertThatThrownBy(() -> stranger.execute(watch.formatted("NOW", 0)))
        .isInstanceOf(UnauthorizedException.class);
    long now = reader.execute(watch.formatted("NOW", 0)).one().getLong("timestamp");
    var waiting = reader.executeAsync(watch.formatted(now, 30_000)).toCompletableFuture();
    admin.execute("UPDATE %s SET v = 1 WHERE id = 1".formatted(TABLE));
    assertThat(waiting.get(40, TimeUnit.SECONDS).one().getString("event")).isEqualTo("change");
  }

  /** Who locks a row holds up those who write it. */
  @Test
  void whenAUserMayNotWriteThenHeMayNotLockRows() {
    String cql = "SELECT v FROM %s WHERE id = 1 FOR UPDATE".formatted(TABLE);
    for (CqlSession user : new CqlSession[] {reader, stranger}) {
      try (Transaction transaction = Isolde.on(user).begin()) {
        assertThatThrownBy(() -> transaction.execute(cql))
            .isInstanceOf(UnauthorizedException.class);
      }
    }
    try (Transaction transaction = Isolde.on(owner).begin()) {
      assertThat(Results.lines(transaction.execute(cql))).isNotNull();
    }
  }

  @Test
  void whenAUserMayNotAlterThenEnableAndDisableAreRefused() {
    for (CqlSession user : new CqlSession[] {reader, stranger}) {
      for (String cql :
          new String[] {"DISABLE TRANSACTIONS ON " + TABLE, "ENABLE TRANSACTIONS ON " + PLAIN}) {
        assertThat(catchThrowable(() -> user.execute(cql)))
            .as(cql)
            .isInstanceOf(UnauthorizedException.class);
      }
    }
    assertThat(Results.lines(owner.execute("SELECT * FROM " + TABLE))).isNotNull();
    owner.execute("ENABLE TRANSACTIONS ON " + PLAIN);
    owner.execute("DISABLE TRANSACTIONS ON " + PLAIN);
  }

  @Test
  void whenAUserMayReadATableThenHeMayReadItsSnapshotsButNotTakeOrDropThem() {
    String create = "CREATE SNAPSHOT mine ON %s, %s".formatted(TABLE, PLAIN);
    for (CqlSession user : new CqlSession[] {owner, reader, stranger}) {
      assertThat(catchThrowable(() -> user.execute(create)))
          .isInstanceOf(UnauthorizedException.class);
    }
    admin.execute("GRANT CREATE ON ALL TABLES IN KEYSPACE systests TO owner");
    owner.execute(create);
    admin.execute("REVOKE CREATE ON ALL TABLES IN KEYSPACE systests FROM owner");
    for (String table : new String[] {TABLE, PLAIN}) {
      String read = "SELECT * FROM %s AS OF SNAPSHOT mine".formatted(table);
      assertThat(Results.lines(reader.execute(read))).isNotNull();
      assertThat(catchThrowable(() -> stranger.execute(read)))
          .isInstanceOf(UnauthorizedException.class);
    }
    for (CqlSession user : new CqlSession[] {reader, stranger}) {
      assertThat(catchThrowable(() -> user.execute("DROP SNAPSHOT mine")))
          .isInstanceOf(UnauthorizedException.class);
    }
    owner.execute("DROP SNAPSHOT mine");
  }

  @Test
  void whenAUserMayNotAlterThenWhatNeedsNoChangeIsRefusedToo() {
    for (String cql :
        new String[] {"ENABLE TRANSACTIONS ON " + TABLE, "DISABLE TRANSACTIONS ON " + PLAIN}) {
      assertThat(catchThrowable(() -> reader.execute(cql)))
          .as(cql)
          .isInstanceOf(UnauthorizedException.class);
      owner.execute(cql);
    }
  }

  @Test
  void whenMayWriteIsRevokedBeforeCommitThenNothingIsCommittedAndThatIsKnown() {
    admin.execute("CREATE ROLE leaver WITH PASSWORD = 'leaver' AND LOGIN = true");
    try (CqlSession leaver = loggedIn("leaver", "leaver")) {
      admin.execute("GRANT MODIFY ON %s TO leaver".formatted(TABLE));
      Transaction transaction = Isolde.on(leaver).begin();
      transaction.execute("INSERT INTO %s (id, v) VALUES (61, 1)".formatted(TABLE));
      Transaction buffered = Isolde.on(leaver).begin();
      buffered.execute("INSERT INTO %s (id, v) VALUES (62, 1)".formatted(TABLE));
      buffered.write("INSERT INTO %s (id, v) VALUES (63, 1)".formatted(TABLE));
      admin.execute("REVOKE MODIFY ON %s FROM leaver".formatted(TABLE));
      assertRefused(ErrorCode.PERMISSION_REVOKED, transaction::commit);
      assertThat(catchThrowable(buffered::commit)).isInstanceOf(UnauthorizedException.class);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    assertThat(
            Results.lines(
                owner.execute("SELECT v FROM %s WHERE id IN (61, 62, 63)".formatted(TABLE))))
        .isEmpty();
  }

  @Test
  void whenTheAuditLogIsOnThenItHasTheStatementsOfEveryPath() throws Exception {
    admin.execute("ENABLE TRANSACTIONS ON " + TABLE);
    try (Transaction transaction = Isolde.on(owner).begin()) {
      transaction.execute("SELECT v FROM %s WHERE id = 4711".formatted(TABLE));
      transaction.commit();
    }
    owner.execute("SELECT v FROM %s WHERE id = 4712".formatted(TABLE));
    assertThat(Files.readString(node.process().systemLog()))
        .containsPattern("type:ALTER_TABLE\\|category:DDL.*operation:ENABLE TRANSACTIONS ON")
        .containsPattern("type:BATCH.*operation:COMMIT")
        .containsPattern("type:SELECT\\|.*id = 4711")
        .containsPattern("type:SELECT\\|.*id = 4712");
  }

  @Test
  void whenAUserIsNoSuperuserThenWhoLeadsIsNotHisToChange() {
    for (CqlSession user : new CqlSession[] {owner, stranger}) {
      for (String change :
          new String[] {
            "ALTER ORACLE ADD '127.0.31.99'", "ALTER KEYSPACE systests LEADER '127.0.31.99'"
          }) {
        assertThat(catchThrowable(() -> user.execute(change)))
            .isInstanceOf(UnauthorizedException.class)
            .hasMessageContaining("superusers");
      }
    }
  }

  @Test
  void whenAUserMayNotReadTheTablesForOperatorsThenTheyStayClosed() {
    String cql = "SELECT * FROM isolde.conflicts";
    assertThat(catchThrowable(() -> stranger.execute(cql)))
        .isInstanceOf(UnauthorizedException.class);
    assertThat(admin.execute(cql).all()).isNotNull();
    admin.execute("GRANT SELECT ON isolde.conflicts TO reader");
    assertThat(reader.execute(cql).all()).isNotNull();
  }

  @Test
  void whenSomebodyElseKnowsTheIdThenTheTransactionIsUnknownToHim() {
    ByteBuffer id = text(UUID.randomUUID().toString());
    owner.execute(bound("START TRANSACTION", id));
    owner.execute(bound("INSERT INTO %s (id, v) VALUES (7, 7)".formatted(TABLE), id));
    for (String cql :
        new String[] {
          "SELECT * FROM " + TABLE,
          "COMMIT",
          "ROLLBACK",
          "START TRANSACTION",
          "INSERT INTO %s (id, v) VALUES (8, 8)".formatted(TABLE)
        }) {
      assertRefused(ErrorCode.TRANSACTION_NOT_FOUND, () -> admin.execute(bound(cql, id)));
    }
    assertThat(owner.execute(bound("COMMIT", id)).one().getBoolean("committed")).isTrue();
    assertThat(Results.lines(owner.execute("SELECT v FROM %s WHERE id IN (7, 8)".formatted(TABLE))))
        .containsExactly("7");
  }

  private static ByteBuffer text(String text) {
    return ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII));
  }

  private static Statement<?> bound(String cql, ByteBuffer id) {
    return SimpleStatement.newInstance(cql).setCustomPayload(Map.of("isolde-transaction", id));
  }

  /** In and outside of a transaction with the words that Cassandra has for the plain table. */
  private static void assertRefusedAlike(CqlSession user, String cql) {
    String expected =
        catchThrowable(() -> user.execute(cql.replace("$t", PLAIN)))
            .getMessage()
            .replace("plain", "accounts");
    assertThat(catchThrowable(() -> user.execute(cql.replace("$t", TABLE))))
        .isInstanceOf(UnauthorizedException.class)
        .hasMessage(expected);
    if (cql.startsWith("TRUNCATE")) {
      return;
    }
    try (Transaction transaction = Isolde.on(user).begin()) {
      assertThat(catchThrowable(() -> transaction.execute(cql.replace("$t", TABLE))))
          .isInstanceOf(UnauthorizedException.class)
          .hasMessage(expected);
      if (cql.startsWith("SELECT")) {
        assertThat(transaction.commit().committed()).isTrue();
      } else {
        assertRefused(ErrorCode.TRANSACTION_ABORTED, transaction::commit);
      }
    }
  }
}
