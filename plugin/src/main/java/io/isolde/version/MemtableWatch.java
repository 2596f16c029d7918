// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

import org.apache.cassandra.notifications.INotification;
import org.apache.cassandra.notifications.INotificationConsumer;
import org.apache.cassandra.notifications.MemtableDiscardedNotification;

/** Tells a version store when a memtable goes whose memory it may have borrowed. */
record MemtableWatch(VersionStore store) implements INotificationConsumer {
  @Override
  public void handleNotification(INotification notification, Object sender) {
    if (notification instanceof MemtableDiscardedNotification) {
      store.takeOver();
    }
  }
}
