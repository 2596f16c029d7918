// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.testing.CassandraInProcess;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.cassandra.db.marshal.Int32Type;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.io.FSError;
import org.apache.cassandra.io.FSErrorHandler;
import org.apache.cassandra.io.sstable.CorruptSSTableException;
import org.apache.cassandra.io.util.FileUtils;
import org.apache.cassandra.schema.TableMetadata;
import org.junit.jupiter.api.Test;

/** An entry of the log that can't be applied yet is seen from outside, until it is applied. */
class WaitingEntryTest {
  private static final long PATIENCE_SECONDS = 30;

  @Test
  void whenAnEntryWaitsForAColumnThenItIsAProblemUntilTheColumnIsThere() throws Exception {
    CassandraInProcess.start();
    CassandraInProcess.execute("CREATE TABLE test.behind (p int PRIMARY KEY, v int)");
    TableMetadata known = CassandraInProcess.table("behind").metadata();
    TableMetadata elsewhere =
        known.unbuild().addRegularColumn("added_later", Int32Type.instance).build();
    PartitionUpdate.SimpleBuilder update = PartitionUpdate.simpleBuilder(elsewhere, 1);
    update.timestamp(2).row().add("added_later", 7);
    byte[] payload =
        Payload.encode(new Payload.Updates(List.of(update.build()), Payload.Timestamps.OF_THE_LOG));
    TableStorage storage = StoreTruncationTest.storage();
    assertThat(storage.problem()).isEmpty();
    long nowMicros = TimeUnit.MILLISECONDS.toMicros(System.currentTimeMillis());

    CompletableFuture<Long> applied =
        CompletableFuture.supplyAsync(() -> storage.apply(payload, null, nowMicros));
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
    while (storage.problem().isEmpty() && System.nanoTime() < deadline) {
      Thread.sleep(5);
    }
    assertThat(storage.problem()).get().asString().contains("waits", "added_later");
    assertThat(applied).isNotDone();

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
    WaitingEntry entry = new WaitingEntry(CassandraInProcess.KEYSPACE);
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
      WaitingEntry entry = new WaitingEntry(CassandraInProcess.KEYSPACE);
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
}
