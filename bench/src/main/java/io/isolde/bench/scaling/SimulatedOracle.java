// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.scaling;

import io.isolde.oracle.CommitRequest;
import io.isolde.oracle.Decision;
import io.isolde.oracle.OracleConfig;
import io.isolde.oracle.Refusal;
import io.isolde.oracle.StatusOracle;
import io.isolde.raft.ByteBudget;
import io.isolde.raft.GroupFailure;
import io.isolde.raft.LogData;
import io.isolde.raft.group.Pace;
import io.isolde.raft.group.ProposalBatcher;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * The oracle's group in simulated time. Decisions are those of the real core, and entries are made
 * by the real batcher, with the bounds of the real leader. Messages, processors and disks are
 * models.
 */
final class SimulatedOracle
    implements ProposalBatcher.Entries<SimulatedOracle.Item, SimulatedOracle.Entry> {
  /** Those of the leader; see {@code Sequencer} and {@code OracleGroupConfig}. */
  static final int MAX_COMMANDS_PER_ENTRY = 2048;

  private static final int MAX_ENTRIES_UNDER_WAY = 3;
  private static final int MAX_QUEUED = 1 << 16;
  private static final int MAX_ENTRY_BYTES = 3 << 20;
  private static final long MAX_QUEUED_BYTES = 64 << 20;

  /** Hashes of rows, ids and what else is in a command without writes. */
  private static final int BYTES_WITHOUT_WRITES = 80;

  private static final int BYTES_PER_ROW = 16;

  private static final Decision REFUSED = new Decision.Refused(Refusal.TOO_MANY_PENDING);

  /** A commit on its way into the log. */
  record Item(CommitRequest request, int bytes, Consumer<Decision> answer)
      implements ProposalBatcher.Item {}

  /** Some of them together. */
  record Entry(List<Item> items, int bytes) implements LogData {
    @Override
    public byte[] encode() {
      throw new UnsupportedOperationException("Simulated entries have no bytes.");
    }
  }

  private final Agenda agenda;
  private final Cluster cluster;
  private final MeasuredCosts costs;
  private final StatusOracle core;
  private final ProposalBatcher<Item, Entry> batcher;

  /** The leader's is the first. */
  private final List<Cores> members = new ArrayList<>();

  /** The part of the leader's work that one thread does. */
  private final Cores sequential;

  private final double diskMicros;
  private int underWay;
  private int pending;
  private long logBytes;
  private long entries;
  private long refused;

  SimulatedOracle(Agenda agenda, Cluster cluster, MeasuredCosts costs, double diskMicros) {
    this.agenda = agenda;
    this.cluster = cluster;
    this.costs = costs;
    this.diskMicros = diskMicros;
    this.core = new StatusOracle(OracleConfig.defaults());
    core.reserve(Long.MAX_VALUE);
    for (int member = 0; member < cluster.machines().members(); member++) {
      members.add(new Cores(agenda, cluster.machines().cores()));
    }
    sequential = new Cores(agenda, 1);
    batcher =
        new ProposalBatcher<>(
            new ProposalBatcher.Limits(MAX_QUEUED, MAX_COMMANDS_PER_ENTRY, MAX_ENTRY_BYTES),
            Pace.asLargeAsTheLast(MAX_ENTRIES_UNDER_WAY),
            new ByteBudget(MAX_QUEUED_BYTES),
            Runnable::run,
            this::replicate,
            this);
  }

  /** Work of the leader: what one thread does of it waits for that thread, too. */
  private void lead(double micros, Runnable then) {
    double ofOneThread = micros * costs.busiestThreadShare();
    members.get(0).work(micros - ofOneThread, () -> sequential.work(ofOneThread, then));
  }

  /** What idle sessions cost the leader, for some time. */
  void keepSessions(double micros) {
    members
        .get(0)
        .work(cluster.machines().nodes() * costs.sessionMicrosPerSecond() * micros / 1e6, () -> {});
  }

  /** At the leader: asks for the newest snapshot. */
  void begin(Consumer<Long> answer) {
    lead(costs.leader().begin(), () -> answer.accept(snapshot()));
  }

  /** The newest snapshot: while nothing is under way, and all is applied, that of now. */
  private long snapshot() {
    if (underWay == 0 && pending == 0) {
      core.advanceTo((long) agenda.nowMicros());
    }
    return core.stable();
  }

  /** All commits at or below it are applied. */
  long stable() {
    return core.stable();
  }

  /** At the leader: asks for a decision. */
  void commit(CommitRequest request, int writeBytes, Consumer<Decision> answer) {
    int bytes = BYTES_WITHOUT_WRITES + request.writes().length * BYTES_PER_ROW + writeBytes;
    lead(
        costs.leader().ofCommit(request.writes().length, writeBytes),
        () -> {
          if (batcher.add(new Item(request, bytes, answer)).isPresent()) {
            refused++;
            answer.accept(REFUSED);
          }
          batcher.propose();
        });
  }

  /** At the leader: the writes are where all readers find them. */
  void applied(long commitTimestamp) {
    core.applied(commitTimestamp);
    pending--;
  }

  @Override
  public Optional<Entry> entry(List<Item> items) {
    return Optional.of(new Entry(items, items.stream().mapToInt(Item::bytes).sum()));
  }

  /** A majority is the leader, and the followers that answer first. */
  private CompletableFuture<Void> replicate(Entry entry) {
    CompletableFuture<Void> committed = new CompletableFuture<>();
    int needed = cluster.machines().members() / 2 + 1;
    AtomicInteger acknowledged = new AtomicInteger();
    Runnable acknowledge =
        () -> {
          if (acknowledged.incrementAndGet() == needed) {
            committed.complete(null);
          }
        };
    underWay++;
    entries++;
    logBytes += entry.bytes();
    lead(
        costs.leader().entry(),
        () -> {
          agenda.after(diskMicros, acknowledge);
          for (int member = 1; member < cluster.machines().members(); member++) {
            follow(entry, member, acknowledge);
          }
        });
    return committed;
  }

  private void follow(Entry entry, int member, Runnable acknowledge) {
    double way = cluster.micros(cluster.regionOfMember(0), cluster.regionOfMember(member));
    double work =
        costs.follower().entry()
            + entry.items().stream()
                .mapToDouble(
                    item -> {
                      int rows = item.request().writes().length;
                      int writes = item.bytes() - BYTES_WITHOUT_WRITES - rows * BYTES_PER_ROW;
                      return costs.follower().ofCommit(rows, writes);
                    })
                .sum();
    agenda.after(
        way,
        () -> members.get(member).work(work, () -> agenda.after(diskMicros + way, acknowledge)));
  }

  @Override
  public void ended(List<Item> items, Entry entry, GroupFailure failure) {
    underWay--;
    for (Item item : items) {
      Decision decision = core.commit(item.request(), 0, 0, (long) agenda.nowMicros(), false);
      pending += decision instanceof Decision.Committed ? 1 : 0;
      item.answer().accept(decision);
    }
  }

  /** Counts from now on. */
  void reset() {
    members.forEach(Cores::reset);
    sequential.reset();
    logBytes = 0;
    entries = 0;
    refused = 0;
  }

  /** What is committed and not applied. */
  int pending() {
    return pending;
  }

  /** How far behind the clock the newest snapshot is. */
  double lagMicros() {
    return pending == 0 ? 0 : Math.max(0, agenda.nowMicros() - core.stable());
  }

  double leaderLoad() {
    return members.get(0).load() + sequential.load() / cluster.machines().cores();
  }

  double busiestThreadLoad() {
    return sequential.load();
  }

  double followerLoad() {
    return cluster.machines().members() == 1 ? 0 : members.get(1).load();
  }

  long logBytes() {
    return logBytes;
  }

  long entries() {
    return entries;
  }

  long refused() {
    return refused;
  }
}
