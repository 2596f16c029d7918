// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.testing.CassandraInProcess;
import java.util.Map;
import org.apache.cassandra.cql3.UntypedResultSet;
import org.apache.cassandra.db.marshal.Int32Type;
import org.apache.cassandra.db.marshal.UTF8Type;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Nothing in a row that the index hook hands over tells when a whole collection was deleted; and
 * after a change of leader the oracle's timestamps are ahead of what a replica has heard of.
 */
class DeletedCollectionTest {
  private static final String COLUMNS = "(p int PRIMARY KEY, m map<text, int>, v text)";
  private static final String ROW = "SELECT m FROM %s WHERE p = 1 %s";

  private static TestClock clock;

  @BeforeAll
  static void start() {
    clock = TestClock.ofThisNode();
  }

  @AfterEach
  void catchUp() {
    clock.catchUp();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "UPDATE %s USING TIMESTAMP # SET m = null WHERE p = 1",
        "UPDATE %s USING TIMESTAMP # SET m = {} WHERE p = 1",
        "DELETE m FROM %s USING TIMESTAMP # WHERE p = 1",
        "DELETE FROM %s USING TIMESTAMP # WHERE p = 1"
      })
  void whenACollectionIsDeletedAheadOfTheClockThenReadersOfBeforeStillSeeIt(String deletion) {
    try (VersionedTable table = new VersionedTable(COLUMNS)) {
      execute(table, "UPDATE %s USING TIMESTAMP # SET m = {'a': 1} WHERE p = 1");
      clock.lagBehind();
      clock.next();
      long reader = clock.next();
      long deleted = execute(table, deletion);
      assertThat(mapAsOf(table, reader)).isEqualTo(Map.of("a", 1));
      assertThat(mapAsOf(table, deleted)).isNull();
      NodeVersions.ofThisNode().budget().sweep();
      assertThat(mapAsOf(table, reader)).as("after a sweep").isEqualTo(Map.of("a", 1));
    }
  }

  @Test
  void whenADeletionIsFollowedByAnotherThenTheFirstHoldsInBetween() {
    try (VersionedTable table = new VersionedTable(COLUMNS)) {
      execute(table, "UPDATE %s USING TIMESTAMP # SET m = {'a': 1} WHERE p = 1");
      table.flush();
      execute(table, "UPDATE %s USING TIMESTAMP # SET m = null WHERE p = 1");
      clock.lagBehind();
      clock.next();
      long reader = clock.next();
      execute(table, "UPDATE %s USING TIMESTAMP # SET m = null WHERE p = 1");
      assertThat(mapAsOf(table, reader)).isNull();
    }
  }

  @Test
  void whenItIsKnownWhenItWasDeletedThenItGoesAsAllElse() {
    try (VersionedTable table = new VersionedTable(COLUMNS)) {
      NodeVersions node = NodeVersions.ofThisNode();
      clock.releaseBelow(clock.next()); // what other tests have left
      node.budget().sweep();
      execute(table, "UPDATE %s USING TIMESTAMP # SET m = {'a': 1} WHERE p = 1");
      clock.lagBehind();
      long deleted = execute(table, "UPDATE %s USING TIMESTAMP # SET m = null WHERE p = 1");
      long before = node.versionCount();
      clock.releaseBelow(deleted + 2);
      node.budget().sweep();
      assertThat(node.versionCount()).as("while it is not known").isEqualTo(before).isPositive();
      clock.catchUp();
      node.budget().sweep();
      assertThat(node.versionCount()).isZero();
      assertThat(table.versions().horizon().timestamp()).isGreaterThanOrEqualTo(deleted);
      assertThat(mapAsOf(table, clock.next())).isNull();
    }
  }

  @Test
  void whenTheTableIsTruncatedBeforeThatIsKnownThenNoReaderFindsWhatWasDeleted() {
    try (VersionedTable table = new VersionedTable(COLUMNS)) {
      execute(table, "INSERT INTO %s (p, m) VALUES (1, {'a': 1}) USING TIMESTAMP #");
      clock.lagBehind();
      execute(table, "UPDATE %s USING TIMESTAMP # SET m = null WHERE p = 1");
      CassandraInProcess.table(table.name).truncateBlocking();
      clock.next();
      assertThat(table.asOf(clock.next(), ROW)).isEmpty();
      clock.catchUp();
      NodeVersions.ofThisNode().budget().sweep();
      assertThat(table.asOf(clock.next(), ROW)).isEmpty();
    }
  }

  /** Returns the timestamp, which takes the place of the #. */
  private static long execute(VersionedTable table, String cql) {
    long timestamp = clock.next();
    table.execute(cql.replace("#", Long.toString(timestamp)));
    return timestamp;
  }

  private static Map<String, Integer> mapAsOf(VersionedTable table, long timestamp) {
    UntypedResultSet rows = table.asOf(timestamp, ROW);
    return rows.isEmpty() || !rows.one().has("m")
        ? null
        : rows.one().getMap("m", UTF8Type.instance, Int32Type.instance);
  }
}
