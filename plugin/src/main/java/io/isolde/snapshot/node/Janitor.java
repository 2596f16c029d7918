// SPDX-License-Identifier: Apache-2.0
package io.isolde.snapshot.node;

import com.google.common.util.concurrent.ThreadFactoryBuilder;
import io.isolde.config.NodeClock;
import io.isolde.peers.Ring;
import io.isolde.snapshot.SnapshotTag;
import io.isolde.snapshot.table.SnapshotCatalog;
import io.isolde.snapshot.table.SnapshotSchema;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes what has expired, and what a creator left that died. A creator removes its own when it is
 * back; what one left that is not of the ring any more, the first living node removes.
 */
final class Janitor {
  private static final Logger log = LoggerFactory.getLogger(Janitor.class);
  private static final long TICK_MILLIS = 50;
  private static final long ROUND_MILLIS = 2_000;

  /** Longer than a creation may take, so that nobody removes what is still being made. */
  private static final long ORPHAN_MILLIS = TimeUnit.MINUTES.toMillis(30);

  private final Participants participants;
  private final Snapshots snapshots;
  private final ScheduledExecutorService thread =
      Executors.newSingleThreadScheduledExecutor(
          new ThreadFactoryBuilder()
              .setNameFormat("isolde-snapshot-janitor")
              .setDaemon(true)
              .build());

  Janitor(Participants participants, Snapshots snapshots) {
    this.participants = participants;
    this.snapshots = snapshots;
  }

  void start() {
    var unusedTicks =
        thread.scheduleWithFixedDelay(
            participants::tick, TICK_MILLIS, TICK_MILLIS, TimeUnit.MILLISECONDS);
    var unusedRounds =
        thread.scheduleWithFixedDelay(this::round, 0, ROUND_MILLIS, TimeUnit.MILLISECONDS);
  }

  private void round() {
    for (SnapshotCatalog.Snapshot snapshot : SnapshotCatalog.all()) {
      try {
        tidy(snapshot);
      } catch (RuntimeException e) {
        log.warn("The snapshot {} can't be removed; trying again.", snapshot.tag().snapshot(), e);
      }
    }
  }

  private void tidy(SnapshotCatalog.Snapshot snapshot) {
    SnapshotTag tag = snapshot.tag();
    String why = null;
    if (snapshot.isReady()) {
      if (isOver(tag) && Ring.isFirstLiving()) {
        why = "it has expired";
      }
    } else if (tag.creator().equals(Ring.hostId())) {
      if (!snapshots.isCreating(tag.creation())) {
        why = "this node was restarted while it made it";
      }
    } else if (!Ring.isMember(tag.creator())
        && NodeClock.nowMillis() - tag.createdMillis() > ORPHAN_MILLIS
        && Ring.isFirstLiving()) {
      why = "the node that made it has left the ring";
    }
    if (why != null) {
      log.info("Removing the snapshot {}: {}.", tag.snapshot(), why);
      SnapshotSchema.remove(tag.creation());
    }
  }

  private static boolean isOver(SnapshotTag tag) {
    return tag.expiresMillis() > 0 && NodeClock.nowMillis() >= tag.expiresMillis();
  }
}
