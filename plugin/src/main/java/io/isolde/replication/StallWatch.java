// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import com.google.common.util.concurrent.ThreadFactoryBuilder;
import io.isolde.group.StallForecast;
import io.isolde.replication.LeadershipEvents.Cause;
import io.isolde.replication.LeadershipEvents.Work;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.apache.cassandra.db.memtable.AbstractAllocatorMemtable;
import org.apache.cassandra.utils.memory.MemtablePool;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks twice a second how full the memory of memtables and the old part of the heap are. Lets
 * others lead before writes wait for flushes, or everything for a collection.
 */
final class StallWatch {
  private static final Logger logger = LoggerFactory.getLogger(StallWatch.class);
  private static final long LOOK_MILLIS = 500;

  /** While it lasts: nobody may have been free, or this node may lead again. */
  private static final long AGAIN_MILLIS = 5_000;

  /**
   * Memory that may fill up.
   *
   * @param mostBytes that there can be; 0 or less if there is none, or no bound
   */
  private record Store(
      Cause cause, LongSupplier usedBytes, LongSupplier mostBytes, StallForecast forecast) {
    Store(Cause cause, LongSupplier usedBytes, LongSupplier mostBytes) {
      this(cause, usedBytes, mostBytes, new StallForecast());
    }
  }

  private final StepAside stepAside;

  /** Filled before the first look. */
  private final List<Store> stores = new ArrayList<>();

  private long loggedMillis;
  private volatile long busyBytes;

  private final ScheduledExecutorService thread =
      Executors.newSingleThreadScheduledExecutor(
          new ThreadFactoryBuilder().setNameFormat("IsoldeStallWatch").setDaemon(true).build());

  StallWatch(StepAside stepAside) {
    this.stepAside = stepAside;
  }

  /** Not before the node has its configuration. */
  void start() {
    MemtablePool memtables = AbstractAllocatorMemtable.MEMORY_POOL;
    for (MemtablePool.SubPool pool : List.of(memtables.onHeap, memtables.offHeap)) {
      stores.add(new Store(Cause.FLUSHES, pool::used, () -> pool.limit));
    }
    for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
      // Of a heap with generations only the old one has a threshold.
      if (pool.getType() == MemoryType.HEAP && pool.isUsageThresholdSupported()) {
        stores.add(
            new Store(
                Cause.COLLECTION, () -> pool.getUsage().getUsed(), () -> pool.getUsage().getMax()));
      }
    }
    var unused =
        thread.scheduleWithFixedDelay(this::look, LOOK_MILLIS, LOOK_MILLIS, TimeUnit.MILLISECONDS);
  }

  private void look() {
    try {
      List<Work> coming = new ArrayList<>();
      long busy = 0;
      long nowMillis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime());
      for (Store store : stores) {
        long used = store.usedBytes.getAsLong();
        boolean isNew = store.forecast.read(nowMillis, used, store.mostBytes.getAsLong());
        if (store.forecast.isComing()) {
          busy = Math.max(busy, used);
          if (isNew || nowMillis - loggedMillis >= AGAIN_MILLIS) {
            coming.add(new Work(store.cause, null, used));
          }
        }
      }
      busyBytes = busy;
      if (!coming.isEmpty()) {
        loggedMillis = nowMillis;
        coming.forEach(stepAside::before);
      }
    } catch (RuntimeException e) {
      logger.error("It could not be told whether this node is about to stall; trying again", e);
    }
  }

  /** Of the memory that is about to be full; 0 if none is. */
  long busyBytes() {
    return busyBytes;
  }

  void close() {
    thread.shutdown();
  }
}
