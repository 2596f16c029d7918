// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.testing.CassandraInProcess;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.cassandra.db.marshal.Int32Type;
import org.apache.cassandra.db.partitions.PartitionUpdate;
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
}
