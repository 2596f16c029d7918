// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import io.isolde.apply.Stamp;
import io.isolde.apply.TableStores;
import io.isolde.group.Layout;
import io.isolde.group.Storage;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.apache.cassandra.db.ColumnFamilyStore;
import org.apache.cassandra.db.Keyspace;
import org.apache.cassandra.db.Mutation;
import org.apache.cassandra.db.compaction.CompactionManager;
import org.apache.cassandra.dht.Bounds;
import org.apache.cassandra.dht.Murmur3Partitioner.LongToken;
import org.apache.cassandra.dht.Range;
import org.apache.cassandra.dht.Token;
import org.apache.cassandra.gms.Gossiper;
import org.apache.cassandra.io.FSError;
import org.apache.cassandra.locator.InetAddressAndPort;
import org.apache.cassandra.locator.RangesAtEndpoint;
import org.apache.cassandra.locator.Replica;
import org.apache.cassandra.schema.Schema;
import org.apache.cassandra.schema.TableId;
import org.apache.cassandra.service.StorageProxy;
import org.apache.cassandra.streaming.StreamOperation;
import org.apache.cassandra.streaming.StreamPlan;
import org.apache.cassandra.utils.FBUtilities;
import org.apache.cassandra.utils.concurrent.UncheckedInterruptedException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The tables of a keyspace, as far as a group's ranges go, behind the group's log. */
final class TableStorage implements Storage {
  private static final Logger logger = LoggerFactory.getLogger(TableStorage.class);
  private static final long PAUSE_MILLIS = 50;
  private static final long LONG_PAUSE_MILLIS = 1_000;
  private static final long COMPLAIN_MILLIS = 10_000;

  /** How long a table is waited for that nobody seems to have, or that is being opened. */
  private static final long GRACE_MILLIS = 1_000;

  private static final int MAX_GONE = 1_024;

  private final String keyspace;
  private final Layout layout;
  private final Layout.Group group;
  private final UUID id;
  private final BooleanSupplier isInSchema;
  private final Consumer<Payload.Truncation> onTruncated;
  private final GroupChanges.Replica watched;

  /** The copies under way, one of each group; an older replica may have begun it. */
  private static final Map<UUID, CompletableFuture<Void>> copies = new ConcurrentHashMap<>();

  /**
   * Tables of which the log has writes and that are no more, so that each is waited for once. The
   * last of them; used by the thread that applies the log.
   */
  private final Set<TableId> gone =
      Collections.newSetFromMap(
          new LinkedHashMap<>() {
            private static final long serialVersionUID = 1L;

            @Override
            protected boolean removeEldestEntry(Map.Entry<TableId, Boolean> eldest) {
              return size() > MAX_GONE;
            }
          });

  /** Used by who applies the log, and between two entries by who makes a checkpoint. */
  private final Truncations truncations = new Truncations();

  private final WaitingEntry next;

  /**
   * The tables of a keyspace.
   *
   * @param isInSchema whether the keyspace is not dropped; what the log has of it waits until then
   * @param onTruncated hears of tables that have just been truncated here, and must not block
   * @param watched hears of all that was applied
   */
  TableStorage(
      String keyspace,
      Layout layout,
      Layout.Group group,
      UUID id,
      BooleanSupplier isInSchema,
      Consumer<Payload.Truncation> onTruncated,
      GroupChanges.Replica watched) {
    this.watched = watched;
    this.keyspace = keyspace;
    this.isInSchema = isInSchema;
    this.next = new WaitingEntry(keyspace, isInSchema);
    this.onTruncated = onTruncated;
    this.layout = layout;
    this.group = group;
    this.id = id;
  }

  @Override
  public long apply(byte[] payload, Object decoded, long timestampMicros) {
    Payload.Content made = decoded != null ? (Payload.Content) decoded : decode(payload);
    long micros = apply(made, timestampMicros);
    watched.applied(micros, made);
    return micros;
  }

  private long apply(Payload.Content made, long timestampMicros) {
    if (made instanceof Payload.Truncation truncation) {
      if (!truncations.reach(truncation.table(), truncation.upToMicros())) {
        truncate(truncation.table(), truncation.upToMicros());
        truncations.add(
            truncation.table(), truncation.upToMicros()); // What is cut short is done again.
        onTruncated.accept(truncation);
      }
      return Math.max(timestampMicros, truncation.upToMicros());
    }
    if (made instanceof Payload.Hold hold) {
      truncations.hold(hold.table(), timestampMicros, hold.untilMicros());
      return timestampMicros;
    }
    return apply((Payload.Updates) made, timestampMicros);
  }

  /** By the bytes alone: replicas may know different tables when they come to it. */
  @Override
  public boolean isRefused(byte[] payload, Object decoded, long proposedMicros) {
    return truncations.isAnyHeld()
        && Payload.tables(payload).stream()
            .anyMatch(table -> truncations.isHeld(table, proposedMicros));
  }

  private long apply(Payload.Updates made, long timestampMicros) {
    Payload.Timestamps timestamps = made.timestamps();
    if (timestamps == Payload.Timestamps.OF_A_COMMIT) {
      // Whoever recovers a commit may send it again, after a truncation that came after it.
      made.updates().stream()
          .filter(update -> !truncations.cover(update))
          .forEach(update -> apply(new Mutation(update)));
      return Math.max(timestampMicros, made.newestMicros());
    }
    boolean isPlaced = timestamps == Payload.Timestamps.OF_THE_LOG_BUT_PLACED;
    for (Mutation mutation : Stamp.mutations(made.updates(), timestampMicros, isPlaced)) {
      apply(mutation);
    }
    return timestampMicros;
  }

  @Override
  public byte[] state() {
    return truncations.save();
  }

  /** A copy brings what the other member has, and removes nothing that is here. */
  @Override
  public void restore(byte[] state) throws IOException {
    next.start();
    truncations.restore(state);
    try {
      truncations.forEach(StoreTruncation::of);
    } catch (RuntimeException | AssertionError | FSError e) { // The second if a table goes.
      WaitingEntry.handToDiskFailurePolicy(e);
      throw new IOException("What was truncated can't be removed now: " + e.getMessage(), e);
    }
  }

  @Override
  public void begin(long lastMicros) {
    watched.begin(lastMicros);
  }

  @Override
  public Optional<String> problem() {
    return next.problem();
  }

  @Override
  public void stop() {
    next.stop();
    watched.stop();
  }

  private void apply(Mutation mutation) {
    next.untilDone(
        "A write",
        PAUSE_MILLIS,
        () -> {
          TableStores.requireOpen(mutation, GRACE_MILLIS);
          // Not through the commit log: the group's log is the write-ahead log.
          mutation.apply(false, false);
        });
  }

  /**
   * Of the whole table here, whichever group's log says so: no group writes anything as old any
   * more. A group that is behind may bring some of it back, and removes it when it gets so far.
   */
  private void truncate(TableId table, long upToMicros) {
    next.untilDone(
        "TRUNCATE of the table " + table,
        LONG_PAUSE_MILLIS,
        () -> StoreTruncation.of(table, upToMicros));
  }

  /**
   * A table that this node has not heard of is one that it will hear of, or one that is gone. A
   * column is one that it will hear of, as dropped ones are known.
   */
  private Payload.Content decode(byte[] payload) {
    boolean areUnknownGone = false;
    boolean hadComplained = false;
    long start = System.nanoTime();
    while (true) {
      boolean isDropped = !isInSchema.getAsBoolean();
      try {
        Payload.Content made = Payload.decode(payload, isDropped, areUnknownGone, gone);
        next.isDone();
        return made;
      } catch (Payload.UnknownSchemaException e) {
        next.waitsBecause(
            "A write in the log waits for this node to hear of its table or column: "
                + e.getMessage());
        long waitedMillis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
        if (waitedMillis > COMPLAIN_MILLIS && !hadComplained) {
          hadComplained = true;
          logger.warn(
              "A write in the log waits for this node to hear of its table or column; if who made"
                  + " that is lost for good, make it again: {}",
              e.getMessage());
        }
        areUnknownGone = e.isOfTable() && waitedMillis > GRACE_MILLIS && agrees();
        if (!areUnknownGone) {
          next.pause(hadComplained ? LONG_PAUSE_MILLIS : PAUSE_MILLIS);
        }
      }
    }
  }

  /**
   * Whether all nodes that are up have this node's schema, and, if the group has other members, one
   * of them is up: it cannot have committed anything for this node to apply otherwise. This asks
   * the nodes, since gossip's word is a moment old. By it, a node that has just heard of a table
   * would be taken for one that has not.
   */
  private boolean agrees() {
    InetAddressAndPort self = FBUtilities.getBroadcastAddressAndPort();
    Set<InetAddressAndPort> live = new HashSet<>(Gossiper.instance.getLiveMembers());
    live.remove(self);
    boolean hasCompany =
        members().size() == 1
            || members().stream().map(ReplicatedLogStrategy::address).anyMatch(live::contains);
    return hasCompany && (live.isEmpty() || hasSameSchema(live));
  }

  /** May take as long as a request to a node that does not answer. */
  private static boolean hasSameSchema(Set<InetAddressAndPort> nodes) {
    String own = Schema.instance.getVersion().toString();
    List<String> asOwn = StorageProxy.describeSchemaVersions(true).getOrDefault(own, List.of());
    return nodes.stream().allMatch(node -> asOwn.contains(node.getHostAddress(true)));
  }

  /** Replicas may have moved since this was opened. */
  private List<Layout.Member> members() {
    Keyspace open = Schema.instance.getKeyspaceInstance(keyspace);
    Layout now =
        open != null && open.getReplicationStrategy() instanceof ReplicatedLogStrategy strategy
            ? strategy.options().layout()
            : null;
    boolean isSame = now != null && now.ranges().equals(layout.ranges());
    return (isSame ? now : layout).groups().get(group.number()).members();
  }

  @Override
  public CompletableFuture<Void> flush() {
    List<CompletableFuture<Void>> flushes = new ArrayList<>();
    Keyspace open = Schema.instance.getKeyspaceInstance(keyspace);
    if (open != null) {
      for (ColumnFamilyStore table : open.getColumnFamilyStores()) {
        flushes.add(TableFlush.of(table));
      }
    }
    return CompletableFuture.allOf(flushes.toArray(CompletableFuture[]::new));
  }

  private static void complete(CompletableFuture<Void> future, Throwable failure) {
    if (failure == null) {
      future.complete(null);
    } else {
      future.completeExceptionally(failure);
    }
  }

  @Override
  public CompletableFuture<Void> copyFrom(String address) {
    InetAddressAndPort self = FBUtilities.getBroadcastAddressAndPort();
    RangesAtEndpoint.Builder ranges = RangesAtEndpoint.builder(self);
    ranges().forEach(range -> ranges.add(new Replica(self, range, true)));
    InetAddressAndPort from = member(address);
    CompletableFuture<Void> copied = new CompletableFuture<>();
    copies.put(id, copied);
    var unused =
        new StreamPlan(StreamOperation.REBUILD)
            .requestRanges(from, keyspace, ranges.build(), RangesAtEndpoint.empty(self))
            .execute()
            .addCallback((state, failure) -> complete(copied, failure));
    return copied.whenComplete((done, failure) -> copies.remove(id, copied));
  }

  private List<Range<Token>> ranges() {
    List<Range<Token>> ranges = new ArrayList<>();
    for (Layout.Span span : layout.spansOf(group)) {
      Token start = new LongToken(span.start());
      ranges.addAll(new Range<>(start, new LongToken(span.end())).unwrap());
    }
    return ranges;
  }

  private List<Bounds<Token>> bounds() {
    return ranges().stream()
        .map(
            range ->
                new Bounds<>(
                    range.left,
                    range.right.isMinimum() ? new LongToken(Long.MAX_VALUE) : range.right))
        .toList();
  }

  @Override
  public void empty() throws IOException {
    CompletableFuture<Void> copy = copies.get(id);
    if (copy != null) {
      throw new IOException("What is being copied from before has not ended yet.");
    }
    HeldGroups.empty(id, this::discardForeign);
  }

  /** Deletes what this node has outside of the ranges that it holds. */
  private void discardForeign() throws IOException {
    Keyspace open = Schema.instance.getKeyspaceInstance(keyspace);
    if (open == null) {
      throw new IOException(keyspace + " is not there.");
    }
    try {
      var unused = flush().get();
      for (ColumnFamilyStore table : open.getColumnFamilyStores()) {
        var status = table.forceCleanup(1);
        if (status != CompactionManager.AllSSTableOpStatus.SUCCESSFUL) {
          throw new IOException(
              "What is not this node's in %s can't be deleted now: %s.".formatted(table, status));
        }
        table.invalidateRowCache(bounds());
      }
    } catch (ExecutionException e) {
      throw new IOException(e.getCause());
    } catch (InterruptedException e) {
      throw new UncheckedInterruptedException(e);
    }
  }

  private InetAddressAndPort member(String host) {
    return Stream.concat(
            members().stream().map(ReplicatedLogStrategy::address),
            Gossiper.instance.getLiveMembers().stream()) // A move is perhaps not noted yet.
        .filter(member -> member.getHostAddress(false).equals(host))
        .findFirst()
        .orElseThrow(() -> new IllegalStateException("There is no live node at " + host + "."));
  }
}
