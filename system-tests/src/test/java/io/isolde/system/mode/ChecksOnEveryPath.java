// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.mode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.DefaultConsistencyLevel;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.servererrors.UnauthorizedException;
import io.isolde.cluster.NodeTool;
import io.isolde.system.Results;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Each check that Cassandra makes, on each path of Isolde: what a user is told on a plain table, an
 * answer or a refusal word for word, is told on every other path.
 */
abstract class ChecksOnEveryPath {
  private static final String COLUMNS =
      "(id int, c int MASKED WITH DEFAULT, v int, s text MASKED WITH DEFAULT, l list<int>,"
          + " PRIMARY KEY (id, c))";
  private static final String LONG = "x".repeat(2048);
  private static final int TOMBSTONES = 8;

  /** Users, and what they may do with every table. */
  private static final Map<String, List<String>> USERS =
      new TreeMap<>(
          Map.of(
              "nobody", List.of(),
              "seer", List.of("SELECT"),
              "finder", List.of("SELECT", "SELECT_MASKED"),
              "knower", List.of("SELECT", "UNMASK"),
              "scribe", List.of("MODIFY"),
              "editor", List.of("SELECT", "UNMASK", "MODIFY"),
              "outsider", List.of("SELECT", "UNMASK", "MODIFY"),
              "roamer", List.of("SELECT", "UNMASK", "MODIFY")));

  /** Users who come from, or to, the wrong place, and what they are told whatever they ask for. */
  private static final Map<String, String> PLACES =
      Map.of(
          "outsider", "You do not have access to this datacenter",
          "roamer", "You do not have access from this IP");

  private static final Map<String, CqlSession> sessions = new HashMap<>();

  /** A statement, and how it is asked for. */
  private record Check(String cql, ConsistencyLevel level, int pageSize) {
    boolean isRead() {
      return cql.startsWith("SELECT");
    }

    boolean isConditional() {
      return cql.contains(" IF ");
    }
  }

  private static Check check(String cql) {
    return new Check(cql, DefaultConsistencyLevel.QUORUM, 1000);
  }

  private static Check check(String cql, ConsistencyLevel level) {
    return new Check(cql, level, 1000);
  }

  static Stream<Check> checks() {
    return Stream.of(
        check("SELECT * FROM $t WHERE id = 1"),
        check("SELECT * FROM $t WHERE id = 1", DefaultConsistencyLevel.ONE),
        check("SELECT s, v FROM $t WHERE id IN (1, 2)"),
        check("SELECT v, s FROM $t WHERE id = 1 AND c = 1"),
        check("SELECT v FROM $t WHERE id = 1 AND s = 'secret1' ALLOW FILTERING"),
        check("SELECT max(s) FROM $t WHERE id = 1"),
        check("SELECT systests.twice(v) FROM $t WHERE id = 1"),
        check("SELECT id, count(*) FROM $t WHERE id = 1 GROUP BY id"),
        check("SELECT v FROM $t WHERE id IN (1, 2, 4, 5)"),
        check("SELECT v FROM $t WHERE id = 1", DefaultConsistencyLevel.THREE),
        new Check("SELECT v FROM $t WHERE id = 1", DefaultConsistencyLevel.QUORUM, 6000),
        check("SELECT v FROM $t WHERE id = 3"),
        check("SELECT v FROM $t WHERE id = 3", DefaultConsistencyLevel.ONE),
        check("SELECT v FROM $t WHERE id IN (1, 3)"),
        check("SELECT v FROM $t"),
        check("SELECT count(*) FROM $t", DefaultConsistencyLevel.ONE),
        check("INSERT INTO $t (id, c, v) VALUES (9, 1, 1)"),
        check("UPDATE $t SET v = 2 WHERE id = 9 AND c = 1", DefaultConsistencyLevel.THREE),
        check("UPDATE $t SET v = systests.twice(2) WHERE id = 9 AND c = 1"),
        check("UPDATE $t USING TIMESTAMP 5 SET v = 2 WHERE id = 9 AND c = 1"),
        check("UPDATE $t SET s = '" + LONG + "' WHERE id = 9 AND c = 1"),
        check("UPDATE $t SET l = [1, 2, 3, 4, 5, 6] WHERE id = 9 AND c = 1"),
        check("DELETE FROM $t WHERE id = 3"),
        check("INSERT INTO $t (id, c, v) VALUES (9, 2, 1) IF NOT EXISTS"),
        check("INSERT INTO $t (id, c, s) VALUES (9, 3, '" + LONG + "') IF NOT EXISTS"),
        check("UPDATE $t SET v = 3 WHERE id = 3 AND c = 1 IF EXISTS"));
  }

  @BeforeAll
  static void makeTablesAndUsers() throws Exception {
    CqlSession admin = PermissionsTest.admin;
    admin.execute(
        "CREATE KEYSPACE strong WITH replication ="
            + " {'class': 'ReplicatedLogStrategy', 'replication_factor': 1}");
    admin.execute(
        "CREATE FUNCTION systests.twice (i int) RETURNS NULL ON NULL INPUT RETURNS int"
            + " LANGUAGE java AS 'return i * 2;'");
    for (Map.Entry<String, List<String>> user : USERS.entrySet()) {
      admin.execute(
          "CREATE ROLE %1$s WITH PASSWORD = '%1$s' AND LOGIN = true".formatted(user.getKey()));
      sessions.put(user.getKey(), PermissionsTest.loggedIn(user.getKey(), user.getKey()));
    }
    admin.execute("GRANT EXECUTE ON FUNCTION systests.twice(int) TO editor");
    for (Path path : Set.of(Path.PLAIN, Path.AUTOCOMMIT, Path.STRONG, Path.STRONG_TRANSACTION)) {
      makeTable(admin, path);
    }
    admin.execute("CREATE SNAPSHOT seen ON " + Path.AUTOCOMMIT.table);
    limitPlaces(admin);
  }

  /**
   * From now on one user may come only to another datacenter, and one only from another network.
   * Both are logged in: a driver could not make a connection any more.
   */
  private static void limitPlaces(CqlSession admin) {
    // ALTER ROLE knows only datacenters that have nodes.
    admin.execute(
        "INSERT INTO system_auth.network_permissions (role, dcs)"
            + " VALUES ('roles/outsider', {'elsewhere'})");
    try (NodeTool tool = PermissionsTest.node.tool()) {
      tool.invoke(
          "org.apache.cassandra.db:type=CIDRGroupsMappingManager",
          "updateCidrGroup",
          "lab",
          List.of("10.0.0.0/8"));
    }
    admin.execute("ALTER ROLE roamer WITH ACCESS FROM CIDRS {'lab'}");
  }

  private static void makeTable(CqlSession admin, Path path) {
    admin.execute("CREATE TABLE " + path.table + " " + COLUMNS);
    if (path == Path.AUTOCOMMIT || path == Path.STRONG_TRANSACTION) {
      admin.execute("ENABLE TRANSACTIONS ON " + path.table);
    }
    for (int id = 1; id <= 5; id++) {
      admin.execute(
          SimpleStatement.newInstance(
                  "INSERT INTO %s (id, c, v, s, l) VALUES (%d, 1, 1, 'secret%d', [1])"
                      .formatted(path.table, id, id))
              .setConsistencyLevel(DefaultConsistencyLevel.QUORUM));
    }
    for (int c = 0; c < TOMBSTONES; c++) {
      admin.execute("DELETE FROM %s WHERE id = 7 AND c = %d".formatted(path.table, c));
    }
    USERS.forEach(
        (user, permissions) ->
            permissions.forEach(
                each -> admin.execute("GRANT %s ON %s TO %s".formatted(each, path.table, user))));
    String[] name = path.table.split("\\.", -1);
    try (NodeTool tool = PermissionsTest.node.tool()) {
      Object isDenied =
          tool.invoke(
              "org.apache.cassandra.db:type=StorageProxy", "denylistKey", name[0], name[1], "3");
      assertThat(isDenied).isEqualTo(true);
    }
  }

  @AfterAll
  static void logOut() {
    sessions.values().forEach(CqlSession::close);
    sessions.clear();
  }

  @ParameterizedTest
  @MethodSource("checks")
  void whenCassandraChecksAStatementThenEveryPathDoes(Check check) {
    for (String user : USERS.keySet()) {
      Map<Path, String> seen = new TreeMap<>();
      Map<Path, String> same = new TreeMap<>();
      for (Path path : Path.values()) {
        if (path.takes(check.isRead(), check.isConditional())) {
          same.put(path, answer(path.withoutIsolde(), check, user));
          seen.put(path, answer(path, check, user));
        }
      }
      // Where Cassandra refuses the statement for another reason, START may still come first.
      String place = PLACES.get(user);
      if (place != null) {
        seen.replaceAll((path, answer) -> answer.contains(place) ? same.get(path) : answer);
        assertThat(same.values()).as("%s: %s", user, check).allMatch(ChecksOnEveryPath::isRefusal);
      }
      assertThat(seen).as("%s: %s", user, check).isEqualTo(same);
    }
  }

  private static boolean isRefusal(String answer) {
    return answer.startsWith("UnauthorizedException: ")
        || answer.startsWith("InvalidQueryException: ");
  }

  /** A new one each time: nobody keeps the past for as long as all checks take. */
  private static long moment(Path path) {
    return path == Path.AS_OF ? PermissionsTest.stableNow() : 0;
  }

  /** The answer, or the refusal, without what names the path. */
  private static String answer(Path path, Check check, String user) {
    SimpleStatement statement =
        SimpleStatement.newInstance(check.cql)
            .setConsistencyLevel(check.level)
            .setPageSize(check.pageSize);
    try {
      ResultSet rows = path.execute(sessions.get(user), statement, moment(path));
      return check.isRead() ? String.valueOf(Results.lines(rows)) : "done";
    } catch (RuntimeException e) {
      return path.withoutName(e.getClass().getSimpleName() + ": " + e.getMessage());
    }
  }

  @Test
  void whenAPartitionHasManyTombstonesThenTheClientIsWarnedOnEveryPath() {
    SimpleStatement read =
        SimpleStatement.newInstance("SELECT v FROM $t WHERE id = 7")
            .setConsistencyLevel(DefaultConsistencyLevel.QUORUM);
    for (Path path : Path.values()) {
      if (path.takes(true, false)) {
        ResultSet rows = path.execute(sessions.get("knower"), read, moment(path));
        assertThat(rows.getExecutionInfo().getWarnings())
            .as("%s", path)
            .anyMatch(warning -> warning.contains(TOMBSTONES + " tombstone cells"));
      }
    }
  }

  @Test
  void whenAnIfOfABlockCallsAFunctionThenItsUserMustBeAllowedTo() {
    String block =
        "BEGIN TRANSACTION LET a = (SELECT v FROM %s WHERE id = 1 AND c = 1); IF a.v ="
                .formatted(Path.BLOCK.table)
            + " systests.twice(1) THEN SELECT a.v; END IF COMMIT TRANSACTION";
    assertThatThrownBy(() -> sessions.get("seer").execute(block))
        .isInstanceOf(UnauthorizedException.class);
    assertThat(sessions.get("editor").execute(block).all()).isEmpty();
  }

  @Test
  void whenAColumnIsMaskedAfterTheSnapshotThenTheSnapshotDoesNotShowIt() {
    CqlSession admin = PermissionsTest.admin;
    admin.execute("CREATE TABLE systests.later (id int PRIMARY KEY, s text)");
    admin.execute("INSERT INTO systests.later (id, s) VALUES (1, 'secret')");
    admin.execute("GRANT CREATE ON ALL TABLES IN KEYSPACE systests TO seer");
    for (String user : List.of("seer", "knower")) {
      admin.execute("GRANT SELECT ON systests.later TO " + user);
    }
    admin.execute("GRANT UNMASK ON systests.later TO knower");
    sessions.get("seer").execute("CREATE SNAPSHOT early ON systests.later");
    admin.execute("ALTER TABLE systests.later ALTER s MASKED WITH DEFAULT");
    sessions.get("seer").execute("CREATE SNAPSHOT late ON systests.later");
    admin.execute("REVOKE CREATE ON ALL TABLES IN KEYSPACE systests FROM seer");

    assertThat(laterBy("seer", "early")).contains("cannot query masked columns [s]");
    assertThat(laterBy("seer", "late")).isEqualTo("[1 ****]");
    for (String snapshot : List.of("early", "late")) {
      assertThat(laterBy("knower", snapshot)).as(snapshot).isEqualTo("[1 secret]");
      admin.execute("DROP SNAPSHOT " + snapshot);
    }
  }

  private static String laterBy(String user, String snapshot) {
    try {
      return String.valueOf(
          Results.lines(
              sessions
                  .get(user)
                  .execute("SELECT * FROM systests.later AS OF SNAPSHOT " + snapshot)));
    } catch (RuntimeException e) {
      return e.getMessage();
    }
  }
}
