// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

import java.util.function.BooleanSupplier;
import org.apache.cassandra.io.sstable.format.SSTableReader;
import org.apache.cassandra.notifications.INotification;
import org.apache.cassandra.notifications.INotificationConsumer;
import org.apache.cassandra.notifications.SSTableAddedNotification;

/**
 * While a node starts, and does not know the oracle's time yet, it knows what it has: what it
 * replaced before is older than that, and of anything older it can't vouch. Timestamps may be ahead
 * of its clock, so its clock alone does not tell.
 *
 * <p>Cassandra flushes what it replays from its commit log, before anybody can read.
 */
record StartWatch(Horizon horizon, BooleanSupplier hasOracle) implements INotificationConsumer {
  @Override
  public void handleNotification(INotification notification, Object sender) {
    if (notification instanceof SSTableAddedNotification added && !hasOracle.getAsBoolean()) {
      raise(horizon, added.added);
    }
  }

  static void raise(Horizon horizon, Iterable<SSTableReader> sstables) {
    sstables.forEach(sstable -> horizon.raise(sstable.getMaxTimestamp()));
  }
}
