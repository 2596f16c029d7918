// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.group.Layout;
import io.isolde.testing.CassandraInProcess;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.apache.cassandra.db.Keyspace;
import org.apache.cassandra.db.marshal.Int32Type;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.io.FSError;
import org.apache.cassandra.io.FSErrorHandler;
import org.apache.cassandra.io.sstable.CorruptSSTableException;
import org.apache.cassandra.io.util.FileUtils;
import org.apache.cassandra.schema.TableMetadata;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** An entry of the log that can't be applied yet is seen from outside, until it is applied. */
class WaitingEntryTest {
  private static final long PATIENCE_SECONDS = 30;

  private final long nowMicros = TimeUnit.MILLISECONDS.toMicros(System.currentTimeMillis());

  @BeforeAll
  static void start() {
    CassandraInProcess.start();
  }

  @Test
  void whenAnEntryWaitsForAColumnThenItIsAProblemUntilTheColumnIsThere() throws Exception {
    CassandraInProcess.execute("CREATE TABLE test.behind (p int PRIMARY KEY, v int)");
    TableStorage storage = StoreTruncationTest.storage();
    CompletableFuture<Long> applied =
        applyTooEarly(storage, CassandraInProcess.table("behind").metadata());

    CassandraInProcess.execute("ALTER TABLE test.behind ADD added_later int");
    assertThat(applied.get(PATIENCE_SECONDS, TimeUnit.SECONDS)).isEqualTo(nowMicros);
    assertThat(storage.problem()).isEmpty();
    assertThat(
            CassandraInProcess.execute("SELECT added_later FROM test.behind WHERE p = 1")
                .one()
                .getInt("added_later"))
        .isEqualTo(7);
  }

  @Test
  void whenTheReplicaStopsThenAnEntryThatWaitsEnds() {
    CassandraInProcess.start();
    WaitingEntry entry = new WaitingEntry(CassandraInProcess.KEYSPACE, () -> true);
    CompletableFuture<Void> applied =
        CompletableFuture.runAsync(() -> entry.untilDone("A write", 1_000, this::fail));
    while (entry.problem().isEmpty()) {
      Thread.onSpinWait();
    }
    entry.stop();
    assertThat(applied).failsWithin(PATIENCE_SECONDS, TimeUnit.SECONDS);
  }

  private void fail() {
    throw new IllegalStateException("A flush has failed.");
  }

  @Test
  void whenAnSSTableIsCorruptThenTheDiskFailurePolicyHearsOfItOnce() {
    CassandraInProcess.start();
    List<CorruptSSTableException> heard = new ArrayList<>();
    FileUtils.setFSErrorHandler(
        new FSErrorHandler() {
          @Override
          public void handleCorruptSSTable(CorruptSSTableException failure) {
            heard.add(failure);
          }

          @Override
          public void handleFSError(FSError failure) {
            throw new AssertionError(failure);
          }
        });
    try {
      CorruptSSTableException corrupt = new CorruptSSTableException(null, "nb-1-big-Data.db");
      AtomicInteger attempts = new AtomicInteger();
      WaitingEntry entry = new WaitingEntry(CassandraInProcess.KEYSPACE, () -> true);
      entry.untilDone(
          "TRUNCATE",
          1,
          () -> {
            if (attempts.incrementAndGet() < 4) {
              throw new IllegalStateException(corrupt);
            }
          });
      assertThat(heard).containsExactly(corrupt);
      assertThat(entry.problem()).isEmpty();
    } finally {
      FileUtils.setFSErrorHandler(null);
    }
  }

  /** Else its group would keep all later groups of this node from starting. */
  @Test
  void whenAKeyspaceIsDroppedAndAnotherHasItsNameAtOnceThenTheEntryDoesNotWait() throws Exception {
    Layout.Member self = new Layout.Member(UUID.randomUUID().toString(), "127.0.0.77:7000");
    Layout layout =
        new Layout(List.of(new Layout.Group(0, List.of(self))), List.of(new Layout.Range(0, 0)));
    Map<String, String> given = Map.of(KeyspaceOptions.REPLICATION_FACTOR, "1");
    Map<String, String> first = KeyspaceOptions.made(given, layout);
    CassandraInProcess.execute("CREATE KEYSPACE again WITH replication = " + map(first));
    CassandraInProcess.execute("CREATE TABLE again.t (p int PRIMARY KEY, v int)");
    StrongKeyspace keyspace =
        new StrongKeyspace("again", KeyspaceOptions.parse(first), 7312, () -> null);
    TableStorage storage =
        new TableStorage(
            "again",
            layout,
            layout.groups().get(0),
            UUID.randomUUID(),
            keyspace::isInSchema,
            truncation -> {},
            new GroupChanges().replica(UUID.randomUUID()));
    CompletableFuture<Long> applied =
        applyTooEarly(storage, Keyspace.open("again").getColumnFamilyStore("t").metadata());

    // As DROP and CREATE between two looks of the entry.
    CassandraInProcess.execute(
        "ALTER KEYSPACE again WITH replication = " + map(KeyspaceOptions.made(given, layout)));
    assertThat(applied.get(PATIENCE_SECONDS, TimeUnit.SECONDS)).isEqualTo(nowMicros);
  }

  private static String map(Map<String, String> options) {
    return options.entrySet().stream()
        .map(option -> "'%s': '%s'".formatted(option.getKey(), option.getValue()))
        .collect(Collectors.joining(", ", "{", "}"));
  }

  /** Begins to apply a write to a column that is not there; returns when it waits. */
  private CompletableFuture<Long> applyTooEarly(TableStorage storage, TableMetadata known)
      throws Exception {
    TableMetadata elsewhere =
        known.unbuild().addRegularColumn("added_later", Int32Type.instance).build();
    PartitionUpdate.SimpleBuilder update = PartitionUpdate.simpleBuilder(elsewhere, 1);
    update.timestamp(2).row().add("added_later", 7);
    byte[] payload =
        Payload.encode(new Payload.Updates(List.of(update.build()), Payload.Timestamps.OF_THE_LOG));
    assertThat(storage.problem()).isEmpty();
    CompletableFuture<Long> applied =
        CompletableFuture.supplyAsync(() -> storage.apply(payload, null, nowMicros));
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
    while (storage.problem().isEmpty() && System.nanoTime() < deadline) {
      Thread.sleep(5);
    }
    assertThat(storage.problem()).get().asString().contains("waits", "added_later");
    assertThat(applied).isNotDone();
    return applied;
  }
}
