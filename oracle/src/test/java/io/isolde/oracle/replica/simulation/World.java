// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica.simulation;

import io.isolde.oracle.IsolationLevel;
import io.isolde.oracle.OracleConfig;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;

/** All that a simulation consists of, and the network between its parts. */
final class World {
  /** Of all transactions of a run. */
  enum Levels {
    SERIALIZABLE,
    SNAPSHOT,
    MIXED
  }

  private static final int USUAL_DELAY = 600;
  private static final int LONG_DELAY = 30_000;

  final Timeline time;
  final Mutation mutation;
  final Happening.Counts counts = new Happening.Counts();
  final RaftModel raft;
  final Checker checker;
  final Checkpoints checkpoints = new Checkpoints(this);
  final List<Member> members = new ArrayList<>();

  /** Also those that are gone. */
  final List<Coordinator> coordinators = new ArrayList<>();

  final boolean[][] isCut;

  /** By number, as their ids have it. */
  final List<Transaction> transactions = new ArrayList<>();

  private final Levels levels;

  /** Whether anything may go wrong. */
  boolean isFaulty = true;

  World(long seed, Mutation mutation, int memberCount, int coordinatorCount) {
    this.time = new Timeline(seed);
    this.mutation = mutation;
    this.raft = new RaftModel(memberCount);
    this.checker = new Checker(this);
    this.levels = Levels.values()[time.below(Levels.values().length)];
    this.isCut = new boolean[coordinatorCount][memberCount];
    OracleConfig config =
        new OracleConfig(8 + time.below(200), 4 + time.below(20), 6 + time.below(60), 100_000, 0);
    for (int i = 0; i < memberCount; i++) {
      // Sometimes the settings of one member differ.
      OracleConfig own = time.oneIn(6) ? config.withMaxRows(8 + time.below(200)) : config;
      members.add(new Member(this, i, own));
    }
    for (int i = 0; i < coordinatorCount; i++) {
      coordinators.add(new Coordinator(this, i));
    }
  }

  Levels levels() {
    return levels;
  }

  /** For the next transaction. */
  IsolationLevel level() {
    boolean isSnapshot = levels == Levels.MIXED ? time.oneIn(2) : levels == Levels.SNAPSHOT;
    return isSnapshot ? IsolationLevel.SNAPSHOT : IsolationLevel.SERIALIZABLE;
  }

  /** 0 if a transaction has none, or is none. */
  long startOf(UUID id) {
    int number = (int) id.getLeastSignificantBits();
    return number < transactions.size() ? transactions.get(number).start : 0;
  }

  boolean mutates(Mutation some) {
    return mutation == some;
  }

  void send(Coordinator from, int member, Request request, Consumer<Response> onResponse) {
    Consumer<Response> reply =
        response ->
            deliver(from.node, member, () -> from.receive(() -> onResponse.accept(response)));
    deliver(from.node, member, () -> members.get(member).receive(request, reply));
  }

  private void deliver(int coordinator, int member, Runnable message) {
    if (isFaulty && (isCut[coordinator][member] || time.oneIn(40))) {
      counts.add(Happening.LOST_MESSAGES);
      return;
    }
    time.after(delay(), message);
    if (isFaulty && time.oneIn(25)) {
      counts.add(Happening.DUPLICATED_MESSAGES);
      time.after(delay(), message);
    }
  }

  private int delay() {
    return 50 + time.below(isFaulty && time.oneIn(30) ? LONG_DELAY : USUAL_DELAY);
  }
}
