// SPDX-License-Identifier: Apache-2.0
package io.isolde.apply;

import java.lang.reflect.Field;
import java.util.Collection;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.PartitionRangeReadCommand;
import org.apache.cassandra.db.ReadQuery;
import org.apache.cassandra.db.SinglePartitionReadCommand;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.exceptions.InvalidRequestException;
import org.apache.cassandra.metrics.DenylistMetrics;
import org.apache.cassandra.schema.PartitionDenylist;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.service.StorageProxy;

/**
 * Refuses the partitions that an operator has put on Cassandra's denylist, with Cassandra's words.
 * For the ways around {@link StorageProxy}, which asks it by itself.
 */
public final class Denylist {
  private static final String OF = "[0x%s] in %s/%s";

  private Denylist() {}

  /** Made when the denylist is first switched on. */
  private static final class Cassandra {
    static final PartitionDenylist LIST = (PartitionDenylist) field("partitionDenylist");
    static final DenylistMetrics METRICS = (DenylistMetrics) field("denylistMetrics");

    private static Object field(String name) {
      try {
        Field field = StorageProxy.class.getDeclaredField(name);
        field.setAccessible(true);
        return field.get(null);
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException("This is not the Cassandra that Isolde is made for.", e);
      }
    }
  }

  /** Before a partition is read. */
  public static void checkRead(TableMetadata table, DecoratedKey key) {
    if (DatabaseDescriptor.getPartitionDenylistEnabled()
        && DatabaseDescriptor.getDenylistReadsEnabled()
        && isDenied(table, key)) {
      Cassandra.METRICS.incrementReadsRejected();
      throw refused("Unable to read denylisted partition " + OF, table, key);
    }
  }

  /**
   * Before another table is read in the place of one.
   *
   * @param table whose partitions may be denied
   */
  public static void check(TableMetadata table, ReadQuery query) {
    if (query instanceof SinglePartitionReadCommand.Group group) {
      group.queries.forEach(command -> checkRead(table, command.partitionKey()));
    } else if (query instanceof PartitionRangeReadCommand range) {
      checkRange(table, range);
    }
  }

  /** Before a range of partitions is read. */
  public static void checkRange(TableMetadata table, PartitionRangeReadCommand command) {
    if (!DatabaseDescriptor.getPartitionDenylistEnabled()
        || !DatabaseDescriptor.getDenylistRangeReadsEnabled()) {
      return;
    }
    int denied = Cassandra.LIST.getDeniedKeysInRangeCount(table.id, command.dataRange().keyRange());
    if (denied > 0) {
      Cassandra.METRICS.incrementRangeReadsRejected();
      throw new InvalidRequestException(
          String.format(
              "Attempted to read a range containing %d denylisted keys in %s/%s. Range read: %s",
              denied, table.keyspace, table.name, command.loggableTokens()));
    }
  }

  /** Before updates are written, or kept for a commit. */
  public static void checkWrites(Collection<PartitionUpdate> updates) {
    if (isOfWrites()) {
      for (PartitionUpdate update : updates) {
        checkWrite("write", update.metadata(), update.partitionKey());
      }
    }
  }

  /** Before a write with a condition, or one that reads first, is decided on. */
  public static void checkConditional(TableMetadata table, DecoratedKey key) {
    if (isOfWrites()) {
      checkWrite("CAS write", table, key);
    }
  }

  private static boolean isOfWrites() {
    return DatabaseDescriptor.getPartitionDenylistEnabled()
        && DatabaseDescriptor.getDenylistWritesEnabled();
  }

  private static void checkWrite(String what, TableMetadata table, DecoratedKey key) {
    if (isDenied(table, key)) {
      Cassandra.METRICS.incrementWritesRejected();
      throw refused("Unable to " + what + " to denylisted partition " + OF, table, key);
    }
  }

  private static boolean isDenied(TableMetadata table, DecoratedKey key) {
    return !Cassandra.LIST.isKeyPermitted(table.id, key.getKey());
  }

  private static InvalidRequestException refused(
      String template, TableMetadata table, DecoratedKey key) {
    return new InvalidRequestException(String.format(template, key, table.keyspace, table.name));
  }
}
