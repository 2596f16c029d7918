// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

import io.isolde.config.IsoldeConfig;
import io.isolde.config.VersionSettings;
import io.isolde.install.ActiveHandler;
import java.util.Collection;
import java.util.Collections;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.apache.cassandra.concurrent.ScheduledExecutors;
import org.apache.cassandra.schema.TableId;
import org.apache.cassandra.streaming.StreamManager;

/**
 * The transactional tables of this node and the memory that they share. One per process, since
 * Cassandra makes index instances by reflection, from its schema.
 */
public final class NodeVersions {
  private static final long SWEEP_INTERVAL_MILLIS = 500;

  /** A change names a row where a version has its content, so it is that much smaller. */
  private static final int CHANGES_PART = 8;

  private static final class Holder {
    static final NodeVersions INSTANCE = new NodeVersions(IsoldeConfig.ofThisNode().versions());
  }

  private final VersionSettings settings;
  private final Map<TableId, VersionIndex> tables = new ConcurrentHashMap<>();
  private final VersionBudget budget;

  /** What the change logs of all tables hold. */
  private final AtomicLong changeBytes = new AtomicLong();

  private final Future<?> sweeping;

  /** The wall clock until the oracle takes over; see {@link #useClock}. */
  private volatile VersionClock source;

  private volatile boolean hasOracle;

  private volatile Consumer<TableId> listener = table -> {};

  private final VersionClock clock =
      new VersionClock() {
        @Override
        public long latestTimestamp() {
          return source.latestTimestamp();
        }

        @Override
        public OptionalLong newestBefore(long nanoTime) {
          return source.newestBefore(nanoTime);
        }

        @Override
        public long newTimestamp() {
          return source.newTimestamp();
        }

        @Override
        public long lowWatermark() {
          return source.lowWatermark();
        }
      };

  /**
   * From now on the listener hears of tables that {@linkplain VersionIndex#beginAnew begin anew},
   * or are not transactional any more.
   */
  public void listen(Consumer<TableId> newListener) {
    listener = newListener;
  }

  void changed(TableId table) {
    listener.accept(table);
  }

  private NodeVersions(VersionSettings settings) {
    ActiveHandler.logIfNotOurs();
    this.settings = settings;
    this.source = VersionClock.wallClock(settings.retentionMicros());
    this.budget = new VersionBudget(settings.storeBytes(), clock);
    this.sweeping =
        ScheduledExecutors.optionalTasks.scheduleWithFixedDelay(
            this::sweep, SWEEP_INTERVAL_MILLIS, SWEEP_INTERVAL_MILLIS, TimeUnit.MILLISECONDS);
    StreamManager.instance.addListener(new WritePathStreams(this));
  }

  public static NodeVersions ofThisNode() {
    return Holder.INSTANCE;
  }

  /**
   * From now on timestamps come from an oracle.
   *
   * @param firstTimestamp above every timestamp in use so far: what this node replaced before it
   *     started is unknown, so it vouches for nothing older
   */
  public void useClock(VersionClock oracle, long firstTimestamp) {
    source = oracle;
    hasOracle = true;
    vouchFrom(firstTimestamp);
  }

  /** From now on this node vouches for nothing older. */
  public void vouchFrom(long firstTimestamp) {
    tables.values().forEach(table -> table.versions().horizon().raise(firstTimestamp));
  }

  /** Whether timestamps come from an oracle by now. */
  boolean hasOracle() {
    return hasOracle;
  }

  /** The versions of a table, or null if the table is not transactional. */
  public VersionIndex of(TableId table) {
    return tables.get(table);
  }

  public Collection<VersionIndex> tables() {
    return Collections.unmodifiableCollection(tables.values());
  }

  public long bytes() {
    return budget.bytes();
  }

  public long maxBytes() {
    return budget.maxBytes();
  }

  public long versionCount() {
    return budget.count();
  }

  public long evictedNeeded() {
    return budget.evictedNeeded();
  }

  /** Old versions are no longer freed by themselves: for the end of the process. */
  public void stop() {
    sweeping.cancel(false);
  }

  VersionSettings settings() {
    return settings;
  }

  VersionClock clock() {
    return clock;
  }

  VersionBudget budget() {
    return budget;
  }

  /** All logs together take a part of the memory for versions, beside it. */
  ChangeLog newChangeLog() {
    return new ChangeLog(clock, changeBytes, settings.storeBytes() / CHANGES_PART);
  }

  void register(TableId table, VersionIndex index) {
    tables.put(table, index);
  }

  void unregister(TableId table, VersionIndex index) {
    tables.remove(table, index);
    changed(table);
  }

  private void sweep() {
    budget.sweep();
    long lowWatermark = clock.lowWatermark();
    for (VersionIndex table : tables.values()) {
      table.versions().retention().release(lowWatermark);
      table.followIndexes();
      table.versions().changes().release(lowWatermark);
    }
  }
}
