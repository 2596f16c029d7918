// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.isolde.testing.CassandraInProcess;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import org.apache.cassandra.db.marshal.Int32Type;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.schema.TableMetadata;
import org.junit.jupiter.api.Test;

/** A column that this node does not know was added elsewhere; of a dropped one it would know. */
class UnknownColumnTest {
  @Test
  void whenAColumnIsNotKnownThenItIsLeftOutOnlyIfItsKeyspaceIsGone() throws Exception {
    CassandraInProcess.start();
    CassandraInProcess.execute("CREATE TABLE test.narrow (p int PRIMARY KEY, v int)");
    TableMetadata known = CassandraInProcess.table("narrow").metadata();
    TableMetadata elsewhere =
        known.unbuild().addRegularColumn("added_elsewhere", Int32Type.instance).build();
    byte[] payload = payload(elsewhere, "added_elsewhere");
    assertThatThrownBy(() -> Payload.decode(payload, false, true, new HashSet<>()))
        .isInstanceOfSatisfying(
            Payload.UnknownSchemaException.class,
            unknown -> assertThat(unknown.isOfTable()).isFalse());
    assertThat(updates(Payload.decode(payload, true, false, new HashSet<>()))).isEmpty();
  }

  @Test
  void whenAColumnWasDroppedThenWhatWasWrittenToItDoesNotKeepTheLogWaiting() throws Exception {
    CassandraInProcess.start();
    CassandraInProcess.execute("CREATE TABLE test.narrowed (p int PRIMARY KEY, v int, w int)");
    byte[] payload = payload(CassandraInProcess.table("narrowed").metadata(), "w");
    CassandraInProcess.execute("ALTER TABLE test.narrowed DROP w");
    assertThat(updates(Payload.decode(payload, false, false, new HashSet<>()))).hasSize(1);
  }

  private static Collection<PartitionUpdate> updates(Payload.Content made) {
    return ((Payload.Updates) made).updates();
  }

  private static byte[] payload(TableMetadata table, String column) {
    PartitionUpdate.SimpleBuilder update = PartitionUpdate.simpleBuilder(table, 1);
    update.timestamp(2).row().add(column, 1);
    return Payload.encode(
        new Payload.Updates(List.of(update.build()), Payload.Timestamps.OF_THE_LOG));
  }
}
