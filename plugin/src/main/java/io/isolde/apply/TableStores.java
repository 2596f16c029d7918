// SPDX-License-Identifier: Apache-2.0
package io.isolde.apply;

import com.google.common.util.concurrent.Uninterruptibles;
import java.util.concurrent.TimeUnit;
import org.apache.cassandra.db.Keyspace;
import org.apache.cassandra.db.Mutation;
import org.apache.cassandra.net.MessagingService;
import org.apache.cassandra.schema.Schema;
import org.apache.cassandra.schema.TableId;
import org.apache.cassandra.schema.TableMetadata;

/**
 * Cassandra makes a new table known before it opens the table's store. It drops what is written to
 * the table in between, with a line in the log and no error.
 */
public final class TableStores {
  private static final long LOOK_MILLIS = 5;

  private TableStores() {}

  /**
   * Whether all that the mutation writes would be written here, but for tables that are no more.
   */
  public static boolean areOpen(Mutation mutation) {
    Keyspace open = Schema.instance.getKeyspaceInstance(mutation.getKeyspaceName());
    for (TableId table : mutation.getTableIds()) {
      boolean isOpen = open != null && open.hasColumnFamilyStore(table);
      if (!isOpen && Schema.instance.getTableMetadata(table) != null) {
        return false;
      }
    }
    return true;
  }

  /**
   * Requires that a table's store is open.
   *
   * @throws IllegalStateException if it is not, or the table is no more
   */
  public static void requireOpen(TableMetadata table) {
    Keyspace open = Schema.instance.getKeyspaceInstance(table.keyspace);
    if (open == null || !open.hasColumnFamilyStore(table.id)) {
      throw new IllegalStateException("The table " + table + " is not open here.");
    }
  }

  /**
   * Requires {@link #areOpen}, after waiting for that if need be; it takes a fraction of a second.
   *
   * @throws IllegalStateException if they are not by then; the write is to be tried again
   */
  public static void requireOpen(Mutation mutation, long waitMillis) {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(waitMillis);
    while (!areOpen(mutation)) {
      if (System.nanoTime() - deadline >= 0) {
        throw new IllegalStateException(
            "A table of " + mutation.getKeyspaceName() + " has just come and is not open yet.");
      }
      Uninterruptibles.sleepUninterruptibly(LOOK_MILLIS, TimeUnit.MILLISECONDS);
    }
  }

  /**
   * From now on this node drops messages with writes, of any table, while the table is not open. So
   * whoever sent them hears nothing, instead of that they are done.
   */
  public static void watchMessages() {
    MessagingService.instance()
        .inboundSink
        .add(message -> !(message.payload instanceof Mutation write) || areOpen(write));
  }
}
