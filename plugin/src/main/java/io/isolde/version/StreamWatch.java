// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

import java.util.function.BooleanSupplier;
import org.apache.cassandra.notifications.INotification;
import org.apache.cassandra.notifications.INotificationConsumer;
import org.apache.cassandra.notifications.SSTableAddedNotification;
import org.apache.cassandra.streaming.StreamManager;
import org.apache.cassandra.streaming.StreamOperation;
import org.apache.cassandra.streaming.management.StreamStateCompositeData;

/**
 * Notices data of ranges that become this replica's. What it is sent is what the sender has now:
 * replaced versions are not among it, so it can't vouch for snapshots from before.
 *
 * <p>Data of a repair is different. It is of ranges that this replica had all along, so it has
 * itself kept what was replaced here; and what it missed, a quorum of the others has not. Only the
 * log of changes does not know of it.
 */
record StreamWatch(
    Horizon horizon, ChangeLog changes, VersionClock clock, BooleanSupplier isTakingRanges)
    implements INotificationConsumer {

  StreamWatch(Horizon horizon, ChangeLog changes, VersionClock clock) {
    this(horizon, changes, clock, StreamWatch::isReceivingRanges);
  }

  @Override
  public void handleNotification(INotification notification, Object sender) {
    if (notification instanceof SSTableAddedNotification added && added.memtable().isEmpty()) {
      added.added.forEach(sstable -> changes.missed(sstable.getMaxTimestamp()));
      if (isTakingRanges.getAsBoolean()) {
        horizon.raise(clock.latestTimestamp());
        added.added.forEach(sstable -> horizon.raise(sstable.getMaxTimestamp()));
      }
    }
  }

  private static boolean isReceivingRanges() {
    return StreamManager.instance.getCurrentStreams().stream()
        .map(StreamStateCompositeData::fromCompositeData)
        .anyMatch(stream -> stream.streamOperation != StreamOperation.REPAIR);
  }
}
