// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness;

import java.util.Arrays;

/** When one of two reads looks at the data of which replicas. Used over and over. */
final class Look {
  private int coordinator;
  private final double[] estimate;
  private final double[] soonest;
  private final double[] latest;

  Look(int replicas) {
    estimate = new double[replicas];
    soonest = new double[replicas];
    latest = new double[replicas];
  }

  /** Takes over the trial's read, which begins at that time, from those whose answers it counts. */
  void set(Trial trial, Contacts contacts, double start) {
    coordinator = trial.readerNode;
    for (double[] each : new double[][] {estimate, soonest, latest}) {
      Arrays.fill(each, Double.NEGATIVE_INFINITY);
    }
    for (int i = 0; i < contacts.answering; i++) {
      int replica = contacts.replicas[i];
      estimate[replica] = start + trial.requestMicros(replica, 0);
      soonest[replica] = start + trial.requestMicros(replica, -1);
      latest[replica] = start + trial.requestMicros(replica, 1);
    }
  }

  /** No write that begins later is seen, whatever the clocks. */
  double end() {
    return Arrays.stream(latest).max().orElseThrow();
  }

  private boolean asks(int replica) {
    return estimate[replica] != Double.NEGATIVE_INFINITY;
  }

  /**
   * Whether it sees a write.
   *
   * @param start of the write
   * @param clock 0 as is estimated; 1 if the clocks are such that this read sees most, and the
   *     other one least; -1 if least and most
   */
  boolean sees(Trial trial, double start, int clock, Look other) {
    for (int i = 0; i < estimate.length; i++) {
      if (asks(i) && start + writeMicros(trial, i, clock, other) <= at(trial, i, clock, other)) {
        return true;
      }
    }
    return false;
  }

  /** What a coordinator writes and reads has the same error. */
  private double writeMicros(Trial trial, int replica, int clock, Look other) {
    boolean isMine = Trial.isOneNode(trial.writerNode, coordinator);
    boolean isOthers = Trial.isOneNode(trial.writerNode, other.coordinator);
    // At a replica that both ask, the write is late, or early, for both.
    boolean isSameForBoth = other.asks(replica) && !isOthers;
    return trial.writeMicros(replica, isMine || isSameForBoth ? 0 : -clock);
  }

  private double at(Trial trial, int replica, int clock, Look other) {
    boolean isMine = Trial.isOneNode(trial.writerNode, coordinator);
    boolean isSameTwice = Trial.isOneNode(coordinator, other.coordinator) && other.asks(replica);
    int bound = isMine || isSameTwice ? 0 : clock;
    return (bound == 0 ? estimate : bound < 0 ? soonest : latest)[replica];
  }
}
