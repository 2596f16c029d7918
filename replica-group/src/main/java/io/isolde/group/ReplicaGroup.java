// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import io.isolde.raft.ByteBudget;
import io.isolde.raft.GroupFailure;
import io.isolde.raft.Peer;
import io.isolde.raft.RaftReplica;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/** This node's replica of a group: what may be asked of it, most of it only while it leads. */
public final class ReplicaGroup {
  private static final String CHANGING = "A change of members is under way.";

  /** In these, one in the place of another would be half of the members, which Ratis refuses. */
  private static final int MAX_TAKEN_IN_FIRST = 2;

  /** So long does a node go on leading that an operator has chosen. */
  static final long STAY_MILLIS = 600_000;

  private final UUID id;
  private final RaftReplica replica;
  final GroupStateMachine machine;
  private final WriteQueue queue;
  private final AtomicBoolean isHandingOver = new AtomicBoolean();
  private volatile long stayUntilNanos = System.nanoTime();

  /** The change of members that this leader was asked for last. */
  private final AtomicReference<CompletableFuture<Void>> change =
      new AtomicReference<>(CompletableFuture.completedFuture(null));

  /** One of them may be dead, so the others get their turn. */
  private final AtomicInteger nextTarget = new AtomicInteger();

  private final Decisions decisions;

  ReplicaGroup(
      UUID id,
      RaftReplica replica,
      GroupStateMachine machine,
      int maxEntryBytes,
      LongSupplier wallMicros,
      ByteBudget memory) {
    this.id = id;
    this.replica = replica;
    this.machine = machine;
    this.queue = new WriteQueue(replica, maxEntryBytes, wallMicros, memory);
    this.decisions = new Decisions(this, machine, queue);
  }

  /** Why this replica takes part no more, though it was not closed; empty if it does. */
  Optional<String> failure() {
    return replica.failure();
  }

  /** What a decision comes to. */
  public interface Decision<T> {
    /** Decides on what is stored now. */
    Outcome<T> decide();

    /** The answer if an earlier attempt turns out to have written. */
    T repeated();

    /** The answer if an earlier attempt was answered in vain that nothing is written. */
    T declined();

    /** A payload without an effect, for the log. */
    byte[] nothing();
  }

  /**
   * What was decided.
   *
   * @param payload to write; null if nothing is written
   * @param decoded see {@link Write#decoded}
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  public record Outcome<T>(T answer, byte[] payload, Object decoded) {}

  /** The group's name. */
  public UUID id() {
    return id;
  }

  /** Whether this node leads and has applied what was committed before. */
  public boolean isLeader() {
    return replica.isLeader();
  }

  /** Who leads, as far as this node knows. */
  public Optional<Peer> leader() {
    return replica.leader();
  }

  /** The current term. */
  public long term() {
    return replica.term();
  }

  /** The members, as far as this node knows. */
  public List<Peer> members() {
    return replica.members();
  }

  /** Whether a change of members is under way, as far as this node knows. */
  public boolean isChangingMembers() {
    return !change.get().isDone() || replica.committedMembers().isEmpty();
  }

  /** For ten minutes from now, this node may lead though leaders are wanted elsewhere. */
  void stay() {
    stayUntilNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(STAY_MILLIS);
  }

  /** Whether an operator has chosen this node as the leader, in the last ten minutes. */
  public boolean isToStay() {
    return stayUntilNanos - System.nanoTime() > 0;
  }

  /** The newest entry of the log that is applied here. */
  public long appliedIndex() {
    return machine.appliedIndex();
  }

  /** Entries that this node knows to be committed, and has not applied. */
  public long lagEntries() {
    long applied = appliedIndex(); // First: the other only grows.
    return Math.max(0, replica.committedIndex() - applied);
  }

  /** Why entries are not applied here, or not written; empty if all is well. */
  public Optional<String> problem() {
    return machine.problem().or(replica::problem);
  }

  /** The timestamp of the newest write that is applied here. */
  public long lastMicros() {
    return machine.lastMicros();
  }

  /**
   * A time for what is decided now: above all that is applied here, and not above the timestamp
   * that the log gives to it.
   */
  public long nextMicros() {
    return Math.max(queue.nextMicros() & ~1L, lastMicros() + LogState.STEP_MICROS);
  }

  /** Completes when an entry of the log is applied here; with true if it was already. */
  CompletableFuture<Boolean> whenApplied(long index) {
    return machine.whenApplied(index);
  }

  /** Up to where the log is not needed any more. */
  public long markedIndex() {
    return machine.saved().index();
  }

  /** What this replica is in its group now. */
  public ReplicaStatus.Role role() {
    if (machine.isCopying()) {
      return ReplicaStatus.Role.COPYING;
    }
    if (isLeader()) {
      return ReplicaStatus.Role.LEADER;
    }
    return leader().isPresent() ? ReplicaStatus.Role.FOLLOWER : ReplicaStatus.Role.NO_LEADER;
  }

  /** Writes that wait for the log here. */
  public int queued() {
    return queue.size();
  }

  /** What waits to be applied is left to the next start. To be called before the log is closed. */
  void stop() {
    machine.stop();
  }

  /** See {@link GroupStateMachine#flushedNow}. */
  CompletableFuture<Checkpoint> flushed() {
    return machine.flushedNow();
  }

  /**
   * Writes; completes with the timestamp when it is in the log of a majority and applied here.
   * Fails with a {@link GroupFailure}.
   */
  public CompletableFuture<Long> write(Write write) {
    if (!isLeader()) {
      return CompletableFuture.failedFuture(GroupFailure.notLeader(leader()));
    }
    return queue.offer(write);
  }

  /**
   * Completes when this node led at a moment after the call, and has applied every write that was
   * answered before.
   */
  public CompletableFuture<Void> barrier() {
    return replica.barrier();
  }

  /**
   * Decides on what is stored, and writes accordingly, such that nothing else is written to the
   * partition in between. Blocks.
   *
   * @param mayBeRepeated whether an attempt before this one had no answer
   * @throws GroupFailure also when time runs out
   */
  public <T> T decide(
      RequestId request,
      boolean mayBeRepeated,
      int keyHash,
      long deadlineNanos,
      Decision<T> decision) {
    return decisions.decide(
        new Decisions.Asked<>(request, mayBeRepeated, keyHash, deadlineNanos, decision));
  }

  /**
   * Hands leadership over; fails and goes on leading if it does not work. Writes that come
   * meanwhile are sent to the new leader by those who sent them. One at a time: while it is under
   * way, another fails with {@code NOT_LEADER}.
   */
  public CompletableFuture<Void> transferLeadership(String to, long timeoutMillis) {
    // The first of two that ended would let writes go on under the other.
    if (!isHandingOver.compareAndSet(false, true)) {
      return CompletableFuture.failedFuture(GroupFailure.notLeader(Optional.empty()));
    }
    CompletableFuture<Void> pause = queue.pause(timeoutMillis);
    return pause
        .thenCompose(paused -> replica.transferLeadership(to, timeoutMillis))
        .whenComplete(
            (handed, failure) -> {
              queue.resume(pause);
              isHandingOver.set(false);
            });
  }

  /** Hands leadership to the member at an address; nothing happens if that is this node. */
  CompletableFuture<Void> letLead(String host, long timeoutMillis) {
    if (!isLeader()) {
      return CompletableFuture.failedFuture(GroupFailure.notLeader(leader()));
    }
    Optional<Peer> transferTarget =
        members().stream().filter(peer -> host.equals(peer.address().getHostString())).findFirst();
    if (transferTarget.isEmpty()) {
      return GroupFailure.future(
          GroupFailure.Reason.REFUSED,
          "There is no member at %s; there are %s.".formatted(host, members()));
    }
    return transferTarget.equals(leader())
        ? CompletableFuture.completedFuture(null)
        : transferLeadership(transferTarget.get().id(), timeoutMillis)
            .exceptionallyCompose(ReplicaGroup::notHandedOver);
  }

  /** Whoever asked may try again, for as long as it has time. */
  private static CompletableFuture<Void> notHandedOver(Throwable failure) {
    GroupFailure known = GroupFailure.of(failure);
    return GroupFailure.future(GroupFailure.Reason.UNKNOWN, known.getMessage());
  }

  /**
   * Completes with the members; only where it leads. Fails with {@code UNKNOWN} if a change of them
   * is under way. It does so, too, while this leader makes one ready that is to be a member.
   */
  CompletableFuture<List<Peer>> committedMembers() {
    return barrier()
        .thenApply(
            leads -> {
              Optional<List<Peer>> committed = replica.committedMembers();
              if (!change.get().isDone() || committed.isEmpty()) {
                throw new GroupFailure(GroupFailure.Reason.UNKNOWN, CHANGING);
              }
              return committed.get();
            });
  }

  /**
   * Lets a node be a member in the place of another, as soon as it has caught up. Does nothing if
   * it is so already. A leader that is to go hands over first and fails with {@code NOT_LEADER}; a
   * group of one or two takes the node in first and fails with {@code UNKNOWN}. Then it is to be
   * asked again.
   *
   * @param next empty if the other goes and nobody comes
   * @param timeoutMillis for the hand-over
   */
  CompletableFuture<Void> replaceMember(String oldId, Optional<Peer> next, long timeoutMillis) {
    // What is under way can still be undone, by another leader.
    return committedMembers().thenCompose(now -> replaceMember(now, oldId, next, timeoutMillis));
  }

  private CompletableFuture<Void> replaceMember(
      List<Peer> members, String oldId, Optional<Peer> next, long timeoutMillis) {
    boolean hasCome = next.isEmpty() || members.contains(next.get());
    boolean isGone = members.stream().noneMatch(peer -> peer.id().equals(oldId));
    if (isGone) {
      return hasCome
          ? CompletableFuture.completedFuture(null)
          : refused("%s is no member; there are %s.".formatted(oldId, members));
    }
    if (members.size() == 1 && next.isEmpty()) {
      return refused("%s is the only member.".formatted(oldId));
    }
    if (members.size() <= MAX_TAKEN_IN_FIRST && !hasCome) {
      return takeIn(members, next.get());
    }
    if (leader().filter(self -> self.id().equals(oldId)).isPresent()) {
      List<Peer> transferTargets =
          members.stream().filter(peer -> !peer.id().equals(oldId)).toList();
      return giveWay(
          transferTargets.get(Math.floorMod(nextTarget.getAndIncrement(), transferTargets.size())),
          timeoutMillis);
    }
    List<Peer> changed = new ArrayList<>(members);
    changed.removeIf(peer -> peer.id().equals(oldId));
    if (!hasCome) {
      changed.add(next.get());
    }
    // In one step, by joint consensus: there are never more or fewer members than before.
    return setMembers(members, changed);
  }

  /** Takes a node in, as soon as it has caught up. Does nothing if it is a member already. */
  CompletableFuture<Void> takeIn(Peer next) {
    return committedMembers()
        .thenCompose(
            now ->
                now.contains(next)
                    ? CompletableFuture.completedFuture(null)
                    : setMembers(now, with(now, next)));
  }

  private static List<Peer> with(List<Peer> members, Peer next) {
    return Stream.concat(members.stream(), Stream.of(next)).toList();
  }

  private static CompletableFuture<Void> refused(String why) {
    return GroupFailure.future(GroupFailure.Reason.REFUSED, why);
  }

  private CompletableFuture<Void> giveWay(Peer transferTarget, long timeoutMillis) {
    return transferLeadership(transferTarget.id(), timeoutMillis)
        .exceptionallyCompose(ReplicaGroup::notHandedOver)
        .thenCompose(
            done ->
                CompletableFuture.failedFuture(
                    GroupFailure.notLeader(Optional.of(transferTarget))));
  }

  private CompletableFuture<Void> takeIn(List<Peer> members, Peer next) {
    return setMembers(members, with(members, next))
        .thenCompose(
            done ->
                GroupFailure.future(
                    GroupFailure.Reason.UNKNOWN, next + " is a member; another goes next."));
  }

  /**
   * Changes the members, of which one may come or go; only while this node leads. Fails with {@code
   * UNKNOWN} while a change is under way.
   *
   * @param before what they are now
   */
  CompletableFuture<Void> setMembers(List<Peer> before, List<Peer> members) {
    CompletableFuture<Void> asked = new CompletableFuture<>();
    CompletableFuture<Void> last = change.get();
    if (!last.isDone() || !change.compareAndSet(last, asked)) {
      return GroupFailure.future(GroupFailure.Reason.UNKNOWN, CHANGING);
    }
    return CompletableFuture.completedFuture(members)
        .thenCompose(changed -> replica.setMembers(before, changed))
        .whenComplete((done, failure) -> asked.complete(null)); // however it went
  }
}
