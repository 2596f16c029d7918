// SPDX-License-Identifier: Apache-2.0
package io.isolde.operations;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.staleness.collect.FilledBook;
import io.isolde.staleness.collect.MessageTap;
import io.isolde.testing.CassandraInProcess;
import java.net.UnknownHostException;
import java.util.List;
import java.util.random.RandomGeneratorFactory;
import java.util.stream.StreamSupport;
import org.apache.cassandra.cql3.UntypedResultSet;
import org.apache.cassandra.cql3.UntypedResultSet.Row;
import org.apache.cassandra.db.virtual.VirtualKeyspace;
import org.apache.cassandra.db.virtual.VirtualKeyspaceRegistry;
import org.apache.cassandra.dht.Murmur3Partitioner.LongToken;
import org.apache.cassandra.locator.InetAddressAndPort;
import org.apache.cassandra.locator.TokenMetadata;
import org.apache.cassandra.service.StorageService;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** {@code isolde.staleness} by CQL, on a ring of this node and two that only it believes in. */
class StalenessTableTest {
  private static final String TABLE = "weak.t";
  private static final List<String> ESTIMATES =
      List.of(
          "fresh",
          "within_2_versions",
          "within_3_versions",
          "monotonic",
          "fresh_99_after_ms",
          "fresh_999_after_ms",
          "read_p50_ms",
          "read_p99_ms",
          "write_p50_ms",
          "write_p99_ms");
  private static InetAddressAndPort second;
  private static InetAddressAndPort third;

  @BeforeAll
  static void start() throws UnknownHostException {
    CassandraInProcess.start();
    second = InetAddressAndPort.getByName("127.0.0.78");
    third = InetAddressAndPort.getByName("127.0.0.79");
    CassandraInProcess.execute(
        "CREATE KEYSPACE weak WITH replication ="
            + " {'class': 'SimpleStrategy', 'replication_factor': 3}");
    ring().updateNormalToken(new LongToken(1_000), second);
    ring().updateNormalToken(new LongToken(2_000), third);
    var delays =
        FilledBook.ofWrites(
            TABLE,
            MessageTap.self(),
            20_000,
            RandomGeneratorFactory.of("L64X128MixRandom").create(6));
    VirtualKeyspaceRegistry.instance.register(
        new VirtualKeyspace(NodeTable.KEYSPACE, List.of(new StalenessTable(delays))));
  }

  @AfterAll
  static void leave() {
    ring().removeEndpoint(second);
    ring().removeEndpoint(third);
  }

  private static TokenMetadata ring() {
    return StorageService.instance.getTokenMetadata();
  }

  private static List<Row> rows(String restriction) {
    UntypedResultSet found =
        CassandraInProcess.execute("SELECT * FROM isolde.staleness " + restriction);
    return StreamSupport.stream(found.spliterator(), false).toList();
  }

  @Test
  void whenLevelsAreWeakThenReadsAreTheFresherTheLaterTheyCome() {
    List<Row> rows =
        rows("WHERE table_name = 'weak.t' AND read_level = 'ONE' AND write_level = 'ONE'");

    assertThat(rows).hasSize(8);
    double before = 0;
    for (Row row : rows) {
      double fresh = row.getDouble("fresh");
      assertThat(fresh).isBetween(Math.max(before, row.getDouble("fresh_low")), 1.0);
      assertThat(row.getDouble("fresh_high")).isBetween(fresh, 1.0);
      assertThat(row.getDouble("within_2_versions")).isBetween(fresh - 0.05, 1.0);
      for (String column : ESTIMATES) {
        assertThat(row.getDouble(column))
            .as(column)
            .isBetween(row.getDouble(column + "_low"), row.getDouble(column + "_high"));
      }
      assertThat(row.getDouble("monotonic")).isBetween(0.5, 1.0);
      before = fresh;
    }
    assertThat(rows.get(0).getDouble("fresh")).isBetween(0.3, 0.5);
    assertThat(before).isGreaterThan(0.99);
    assertThat(rows.get(7).getDouble("monotonic")).isGreaterThan(0.99);
  }

  private static int replicas(Row row, String level) {
    return List.of("ONE", "QUORUM", "ALL").indexOf(row.getString(level)) + 1;
  }

  @Test
  void whenReadsMeetWritesThenTheyAreFreshForSure() {
    List<Row> all = rows("");

    assertThat(all).hasSize(9 * 8);
    for (Row row : all) {
      boolean isStrong = replicas(row, "read_level") + replicas(row, "write_level") > 3;
      assertThat(row.getBoolean("strong")).isEqualTo(isStrong);
      if (isStrong) {
        assertThat(row.getDouble("fresh")).isEqualTo(1);
        assertThat(row.getDouble("within_2_versions")).isEqualTo(1);
      }
      if (!row.getString("read_level").equals("ONE")) {
        assertThat(row.getDouble("monotonic")).isEqualTo(1);
      }
    }
  }

  @Test
  void whenNothingWasSeenOfATableThenItHasNoRows() {
    assertThat(rows("WHERE table_name = 'weak.other'")).isEmpty();
    assertThat(rows("WHERE table_name = 'nokeyspace'")).isEmpty();
  }
}
