// SPDX-License-Identifier: Apache-2.0
package io.isolde.snapshot.protocol;

/** A node of a {@link SimulatedCluster}: what it has on disk, and what it loses when it dies. */
final class SimulatedNode {
  /** What its schema says of the snapshot's tables. */
  enum Tables {
    NONE,
    CREATING,
    READY
  }

  final int number;
  final String name;
  boolean isAlive = true;

  /** On disk. */
  Tables schema = Tables.NONE;

  private long schemaVersion;
  boolean isLoaded;

  /** In memory. */
  Participation participation;

  private boolean isCut;

  SimulatedNode(int number) {
    this.number = number;
    this.name = "node" + number;
  }

  void change(Tables tables) {
    schema = tables;
    schemaVersion++;
    forgetDropped();
  }

  void hear(SimulatedNode other) {
    if (other.schemaVersion > schemaVersion) {
      schema = other.schema;
      schemaVersion = other.schemaVersion;
      forgetDropped();
    }
  }

  /** The data of a table goes with it. */
  private void forgetDropped() {
    if (schema == Tables.NONE) {
      isLoaded = false;
    }
  }

  /** Returns whether to begin the step. */
  boolean asked(Step step, boolean isGated, long leaseMillis, long gateMillis, long now) {
    if (participation == null && step == Step.RESERVE && schema == Tables.NONE) {
      participation = new Participation(isGated, leaseMillis, gateMillis, now);
    }
    return participation != null && participation.asked(step, now) == Participation.Decision.BEGIN;
  }

  StepAnswer answer(Step step) {
    return participation == null ? StepAnswer.failed("Restarted.") : participation.answer(step);
  }

  void perform(Step step, long now, GateWatch gates) {
    switch (step) {
      case CLOSE_GATE -> {
        if (participation.isGateClosed()) {
          gates.closed(number, now);
        }
      }
      case CUT -> {
        isCut = true;
        gates.cut();
      }
      case OPEN_GATE -> gates.opened(number);
      case LOAD -> isLoaded = isCut && schema != Tables.NONE;
      default -> {
        // Nothing that matters here.
      }
    }
  }

  void tick(long now, GateWatch gates) {
    if (participation != null) {
      boolean isOver = participation.tick(now);
      if (!participation.isGateClosed()) {
        gates.opened(number);
      }
      if (isOver) {
        letGo(gates);
      }
    }
  }

  void released(long now, GateWatch gates) {
    if (participation != null) {
      participation.release();
      letGo(gates);
    }
  }

  private void letGo(GateWatch gates) {
    gates.opened(number);
    participation = null;
    isCut = false;
  }

  void crash(long now, GateWatch gates) {
    isAlive = false;
    letGo(gates);
  }

  boolean holdsNothing() {
    return participation == null && !isCut;
  }
}
