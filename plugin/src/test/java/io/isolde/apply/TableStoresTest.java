// SPDX-License-Identifier: Apache-2.0
package io.isolde.apply;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.isolde.testing.CassandraInProcess;
import java.lang.reflect.Field;
import java.util.Map;
import org.apache.cassandra.db.ColumnFamilyStore;
import org.apache.cassandra.db.Keyspace;
import org.apache.cassandra.db.Mutation;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.schema.TableId;
import org.apache.cassandra.schema.TableMetadata;
import org.junit.jupiter.api.Test;

class TableStoresTest {
  @Test
  void whenATableIsKnownButNotOpenThenWhatIsWrittenToItMustWait() throws Exception {
    CassandraInProcess.start();
    CassandraInProcess.execute("CREATE TABLE test.opening (p int PRIMARY KEY, v int)");
    ColumnFamilyStore store = CassandraInProcess.table("opening");
    Mutation write = write(store.metadata(), 1);
    assertThat(TableStores.areOpen(write)).isTrue();
    Map<TableId, ColumnFamilyStore> open = stores(store.keyspace);
    open.remove(store.metadata.id);
    try {
      write.apply(); // as Cassandra does then: without a word
      assertThat(TableStores.areOpen(write)).isFalse();
      assertThatThrownBy(() -> TableStores.requireOpen(write, 10))
          .hasMessageContaining("not open yet");
    } finally {
      open.put(store.metadata.id, store);
    }
    assertThat(CassandraInProcess.execute("SELECT * FROM test.opening")).isEmpty();
    TableStores.requireOpen(write, 0);
    CassandraInProcess.execute("DROP TABLE test.opening");
    assertThat(TableStores.areOpen(write)).as("nothing of it is to be written").isTrue();
  }

  private static Mutation write(TableMetadata table, int key) {
    PartitionUpdate.SimpleBuilder update = PartitionUpdate.simpleBuilder(table, key);
    update.timestamp(2).row().add("v", 1);
    return new Mutation(update.build());
  }

  @SuppressWarnings("unchecked")
  private static Map<TableId, ColumnFamilyStore> stores(Keyspace keyspace) throws Exception {
    Field field = Keyspace.class.getDeclaredField("columnFamilyStores");
    field.setAccessible(true);
    return (Map<TableId, ColumnFamilyStore>) field.get(keyspace);
  }
}
