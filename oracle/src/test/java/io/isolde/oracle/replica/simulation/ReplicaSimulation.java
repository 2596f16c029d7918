// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica.simulation;

import io.isolde.oracle.SerializationGraph;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** One run: a time of faults, and then a time without, in which everything must be answered. */
final class ReplicaSimulation {
  private static final int FAULTY_MICROS = 150_000;
  private static final int QUIET_MICROS = 600_000;

  private final World world;
  private final Timeline time;
  private final Set<RaftModel.Entry> seen = new HashSet<>();

  private ReplicaSimulation(World world) {
    this.world = world;
    this.time = world.time;
  }

  /**
   * Runs, and counts what happened.
   *
   * @throws AssertionError if an invariant does not hold, with the seed and what happened last
   */
  static Happening.Counts run(long seed, Mutation mutation) {
    int members = seed % 3 == 0 ? 5 : 3;
    World world = new World(seed, mutation, members, 2 + (int) (seed & 1));
    try {
      new ReplicaSimulation(world).run();
    } catch (AssertionError | RuntimeException e) {
      throw new AssertionError(
          "Seed "
              + seed
              + ", to be repeated with -Disolde.seed="
              + seed
              + ": "
              + e
              + "\n"
              + world.time.lastRemarks(),
          e);
    }
    return world.counts;
  }

  private void run() {
    long end = time.nowMicros() + FAULTY_MICROS;
    world.raft.elect(world.members.get(0).node);
    time.after(5_000, this::fault);
    while (time.nowMicros() < end) {
      time.step();
    }
    world.isFaulty = false;
    heal();
    long limit = time.nowMicros() + QUIET_MICROS;
    while (!isQuiet()) {
      Broken.unless(
          time.nowMicros() < limit,
          "everything is answered when faults have stopped",
          world.coordinators.stream().filter(some -> !some.isQuiet()).toList(),
          world.checker.log.firstPending());
      long next = time.nowMicros() + 2_000;
      while (time.nowMicros() < next) {
        time.step();
      }
    }
    checkTheEnd();
  }

  private void fault() {
    if (!world.isFaulty) {
      return;
    }
    time.after(500 + time.below(6_000), this::fault);
    Member member = world.members.get(time.below(world.members.size()));
    world.checkpoints.dieAndAsk(member);
    switch (time.below(15)) {
      case 0, 1, 2 -> elect(member);
      case 3 -> crashOrRestart(member);
      case 4 -> isolateOrJoin(member);
      case 5 -> member.jumpClock(time.below(20_000) - 10_000);
      case 6 -> member.jumpClock(time.oneIn(10) ? 500_000 : time.below(2_000) - 1_000);
      case 7 -> disturb(processOf(time.below(world.isCut.length)));
      case 8 -> cutOrMend();
      case 9 -> member.takeStateOf(world.members.get(time.below(world.members.size())));
      case 10 -> stickSome();
      default -> restartSome();
    }
  }

  private void stickSome() {
    world.counts.add(Happening.STUCK_ROWS);
    world.checker.store.stick(time.below(Client.ROWS), time.nowMicros() + time.below(60_000));
  }

  /** Whoever is elected may lack what the leader before has not committed, or may have it. */
  private void elect(Member candidate) {
    List<RaftModel.Entry> uncommitted = new ArrayList<>();
    for (Member member : world.members) {
      if (member.node.leads) {
        List<RaftModel.Entry> log = member.node.log;
        uncommitted.addAll(log.subList(Math.min(world.raft.committed(), log.size()), log.size()));
      }
    }
    if (!world.raft.elect(candidate.node)) {
      return;
    }
    time.remark("member", candidate.number, "is elected in term", candidate.node.term);
    for (RaftModel.Entry entry : uncommitted) {
      if (seen.add(entry)) {
        boolean survives = candidate.node.log.contains(entry);
        world.counts.add(
            survives ? Happening.ENTRIES_OF_THE_LEADER_BEFORE : Happening.LOST_ENTRIES);
      }
    }
  }

  private void crashOrRestart(Member member) {
    if (member.node.isUp) {
      member.crash();
    } else {
      member.restart();
    }
  }

  private void isolateOrJoin(Member member) {
    member.node.isIsolated = !member.node.isIsolated;
    time.remark("member", member.number, "isolated:", member.node.isIsolated);
  }

  /** So that most of the time there is a majority. */
  private void restartSome() {
    for (Member member : world.members) {
      if (!member.node.isUp && time.oneIn(2)) {
        member.restart();
      } else if (time.oneIn(2)) {
        member.node.isIsolated = false;
      }
    }
    boolean isLed =
        world.members.stream()
            .anyMatch(member -> world.raft.holdsLease(member.node) && member.node.isReachable());
    if (!isLed) {
      elect(world.members.get(time.below(world.members.size())));
    }
  }

  /** The last process of a node. */
  private Coordinator processOf(int node) {
    Coordinator last = null;
    for (Coordinator coordinator : world.coordinators) {
      last = coordinator.node == node ? coordinator : last;
    }
    return last;
  }

  private void disturb(Coordinator process) {
    switch (time.below(5)) {
      case 0 -> {
        world.counts.add(Happening.COORDINATOR_CRASHES);
        process.isAlive = false;
        time.after(time.below(60_000), () -> replace(process.node));
      }
      case 1 -> {
        // A zombie: it wakes up when another process has its place.
        process.pause(time.below(80_000));
        replace(process.node);
      }
      case 2 -> cutOff(process.node);
      default -> process.pause(time.below(60_000));
    }
  }

  /** What was under way is lost, the answers to what arrived included. */
  private void cutOff(int coordinator) {
    world.counts.add(Happening.COORDINATORS_CUT_OFF);
    Arrays.fill(world.isCut[coordinator], true);
    time.after(time.below(80_000), () -> Arrays.fill(world.isCut[coordinator], false));
  }

  private void replace(int node) {
    world.coordinators.add(new Coordinator(world, node));
  }

  private void cutOrMend() {
    int coordinator = time.below(world.isCut.length);
    int member = time.below(world.members.size());
    world.isCut[coordinator][member] ^= time.oneIn(2);
  }

  private void heal() {
    time.remark("faults stop");
    for (Member member : world.members) {
      if (!member.node.isUp) {
        member.restart();
      }
      member.node.isIsolated = false;
    }
    boolean isLed = false;
    while (!isLed) {
      isLed = world.raft.elect(world.members.get(time.below(world.members.size())).node);
    }
  }

  private boolean isQuiet() {
    return world.checker.log.firstPending() == Long.MAX_VALUE
        && world.coordinators.stream().allMatch(Coordinator::isQuiet)
        && world.members.stream().allMatch(this::isCaughtUp);
  }

  private boolean isCaughtUp(Member member) {
    return member.applied == world.checker.applied()
        && member.replica.stable() == member.replica.last();
  }

  private void checkTheEnd() {
    for (Member member : world.members) {
      world.checker.compareState(member, member.applied);
    }
    world.checker.log.checkReads();
    SerializationGraph graph = new SerializationGraph(world.checker.log.history());
    switch (world.levels()) {
      case SERIALIZABLE -> Broken.unless(!graph.hasCycle(), "all that committed is serializable");
      case SNAPSHOT ->
          Broken.unless(
              !graph.hasCycleWithoutConsecutiveAntiDependencies(),
              "all that committed is snapshot isolated");
      case MIXED -> {}
    }
  }
}
