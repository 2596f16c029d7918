// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.cassandra.db.lifecycle.Tracker;
import org.apache.cassandra.db.lifecycle.View;
import org.apache.cassandra.io.sstable.Descriptor;
import org.apache.cassandra.io.sstable.format.SSTableReader;
import org.apache.cassandra.notifications.INotification;
import org.apache.cassandra.notifications.INotificationConsumer;
import org.apache.cassandra.notifications.InitialSSTableAddedNotification;
import org.apache.cassandra.notifications.SSTableAddedNotification;
import org.apache.cassandra.notifications.SSTableListChangedNotification;
import org.apache.cassandra.utils.concurrent.Ref;

/**
 * Keeps the SSTables of one table readable after a compaction (or anything else) has replaced them,
 * until no reader needs what the replacement dropped: replaced cells, purged tombstones, expired
 * cells. Costs no memory and no work on any path, only disk space for a short while.
 *
 * <p>A reference is taken as soon as an SSTable appears, since by the time that its replacement is
 * announced it may be gone.
 */
public final class SSTableRetention implements INotificationConsumer {

  /** An SSTable that readers may still need: for good while it is live, else below a timestamp. */
  private record Held(SSTableReader sstable, Ref<SSTableReader> reference, long neededBelow) {
    private static final long WHILE_LIVE = Long.MAX_VALUE;

    boolean isLive() {
      return neededBelow == WHILE_LIVE;
    }
  }

  /**
   * What is held but not (wholly) in a view; views are immutable, so this is computed once each. A
   * view has memtables, which may be a quarter of the heap: after their flush nothing may keep
   * them.
   */
  private record Replaced(Reference<View> view, long epoch, List<Held> held) {}

  private final Tracker tracker;
  private final VersionClock clock;
  private final Horizon horizon;
  private final long maxReplacedBytes;

  /**
   * Guarded by this; in the order of arrival. Bounded by the live SSTables and maxReplacedBytes.
   */
  private final List<Held> all = new ArrayList<>();

  private boolean closed;
  private volatile long epoch;
  private volatile Replaced cached = new Replaced(new WeakReference<>(null), -1, List.of());

  SSTableRetention(Tracker tracker, VersionClock clock, Horizon horizon, long maxReplacedBytes) {
    this.tracker = tracker;
    this.clock = clock;
    this.horizon = horizon;
    this.maxReplacedBytes = maxReplacedBytes;
  }

  void open() {
    tracker.subscribe(this);
    hold(tracker.getView().liveSSTables());
  }

  @Override
  public void handleNotification(INotification notification, Object sender) {
    if (notification instanceof SSTableAddedNotification added) {
      hold(added.added);
    } else if (notification instanceof InitialSSTableAddedNotification initial) {
      hold(initial.added);
    } else if (notification instanceof SSTableListChangedNotification changed) {
      hold(changed.added);
      replaced(changed.removed, changed.added);
    }
  }

  private synchronized void hold(Iterable<SSTableReader> added) {
    for (SSTableReader sstable : added) {
      if (closed || isHeld(sstable)) {
        continue;
      }
      Ref<SSTableReader> reference = sstable.tryRef();
      if (reference == null) {
        // Replaced before we could take it: what it held is lost to readers of the past.
        horizon.raise(Math.max(clock.latestTimestamp(), sstable.getMaxTimestamp()));
      } else {
        all.add(new Held(sstable, reference, Held.WHILE_LIVE));
      }
    }
    epoch++;
  }

  private boolean isHeld(SSTableReader sstable) {
    return all.stream()
        .anyMatch(h -> h.isLive() && h.sstable.descriptor.equals(sstable.descriptor));
  }

  private synchronized void replaced(
      Collection<SSTableReader> removed, Collection<SSTableReader> added) {
    // Also time matters, not only timestamps: compaction drops what has expired by the wall clock.
    long neededBelow = clock.latestTimestamp();
    for (SSTableReader sstable : removed) {
      neededBelow = Math.max(neededBelow, sstable.getMaxTimestamp());
    }
    for (SSTableReader sstable : removed) {
      if (added.contains(sstable)) {
        continue; // the same file under a new reader
      }
      if (!markReplaced(sstable, neededBelow)) {
        horizon.raise(neededBelow);
      }
    }
    release(clock.lowWatermark());
  }

  private boolean markReplaced(SSTableReader sstable, long neededBelow) {
    for (int i = 0; i < all.size(); i++) {
      Held held = all.get(i);
      if (held.isLive() && held.sstable.descriptor.equals(sstable.descriptor)) {
        all.set(i, new Held(held.sstable, held.reference, neededBelow));
        return true;
      }
    }
    return false;
  }

  /**
   * Lets go of what nobody needs, and, above the bound, of the oldest of what somebody may need.
   */
  synchronized void release(long lowWatermark) {
    List<Held> unheld = new ArrayList<>();
    long replacedBytes = replacedBytes();
    for (Iterator<Held> iterator = all.iterator(); iterator.hasNext(); ) {
      Held held = iterator.next();
      boolean unneeded = held.neededBelow <= lowWatermark;
      if (held.isLive() || (!unneeded && replacedBytes <= maxReplacedBytes)) {
        continue;
      }
      horizon.raise(held.neededBelow);
      iterator.remove();
      replacedBytes -= held.sstable.bytesOnDisk();
      unheld.add(held);
    }
    letGo(unheld);
  }

  /** Readers first stop finding them: a file that is closed is unmapped under who comes late. */
  private synchronized void letGo(List<Held> unheld) {
    epoch++;
    unheld.forEach(held -> held.reference.release());
  }

  /** SSTables that hold versions which a reader as of {@code asOf} may miss in this view. */
  List<SSTableReader> missingFrom(View view, long asOf) {
    Replaced replaced = cached;
    if (!replaced.view.refersTo(view) || replaced.epoch != epoch) {
      replaced = computeReplaced(view);
      cached = replaced;
    }
    if (replaced.held.isEmpty()) {
      return List.of();
    }
    List<SSTableReader> missing = new ArrayList<>(replaced.held.size());
    for (Held held : replaced.held) {
      if (held.neededBelow > asOf) {
        missing.add(held.sstable);
      }
    }
    return missing;
  }

  private synchronized Replaced computeReplaced(View view) {
    Map<Descriptor, SSTableReader> live = new HashMap<>();
    for (SSTableReader sstable : view.liveSSTables()) {
      live.put(sstable.descriptor, sstable);
    }
    List<Held> replaced = new ArrayList<>();
    for (Held held : all) {
      SSTableReader inView = live.get(held.sstable.descriptor);
      // While it is being compacted, a reader may give up its beginning to the early opened result.
      boolean whole = inView != null && inView.getFirst().equals(held.sstable.getFirst());
      if (!whole) {
        replaced.add(held);
      }
    }
    return new Replaced(new WeakReference<>(view), epoch, replaced);
  }

  synchronized long replacedBytes() {
    return all.stream().filter(h -> !h.isLive()).mapToLong(h -> h.sstable.bytesOnDisk()).sum();
  }

  synchronized long replacedCount() {
    return all.stream().filter(h -> !h.isLive()).count();
  }

  void close() {
    tracker.unsubscribe(this);
    synchronized (this) {
      closed = true;
      List<Held> unheld = List.copyOf(all);
      all.clear();
      letGo(unheld);
    }
  }
}
