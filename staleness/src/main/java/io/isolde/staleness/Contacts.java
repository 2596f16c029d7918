// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness;

import java.util.Arrays;

/** Works out whose answers a request counts, and when it has them. Used over and over. */
final class Contacts {
  /** The replicas whose answers the read counts: the first {@link #answering}. */
  final int[] replicas;

  int answering;

  /** When the last of them has answered, after the read's start. */
  double answeredMicros;

  private final double[] answers;
  private final double[] scratch;

  Contacts(int n) {
    replicas = new int[n];
    answers = new double[n];
    scratch = new double[n];
  }

  /** When the write has enough acknowledgements, after its start. */
  double acknowledgedAt(Trial trial, Requirement write) {
    for (int i = 0; i < answers.length; i++) {
      answers[i] = trial.writeMicros[i] + trial.ackMicros[i];
    }
    return write.metAt(answers, trial.datacenters, trial.writerDatacenter, scratch);
  }

  /** Fills in who answers the read, and when. */
  void read(Trial trial, Quorums quorums) {
    for (int i = 0; i < answers.length; i++) {
      answers[i] = trial.requestMicros[i] + trial.responseMicros[i];
    }
    if (quorums.fanOut() == ReadFanOut.ALL) {
      readFromAll(trial, quorums.read());
    } else {
      readFromPreferred(trial, quorums.read());
    }
  }

  private void readFromAll(Trial trial, Requirement read) {
    answeredMicros = read.metAt(answers, trial.datacenters, trial.readerDatacenter, scratch);
    int needed = read.needed(trial.readerDatacenter);
    answering = 0;
    // In the order of preference, so that it decides between those that answer at once.
    for (int i = 0; i < answers.length && answering < needed; i++) {
      int replica = trial.preference[i];
      if (answers[replica] <= answeredMicros
          && read.counts(trial.datacenters[replica], trial.readerDatacenter)) {
        replicas[answering++] = replica;
      }
    }
  }

  private void readFromPreferred(Trial trial, Requirement read) {
    int needed = read.needed(trial.readerDatacenter);
    answeredMicros = 0;
    answering = 0;
    for (int i = 0; i < answers.length && answering < needed; i++) {
      int replica = trial.preference[i];
      if (read.counts(trial.datacenters[replica], trial.readerDatacenter)) {
        replicas[answering++] = replica;
        answeredMicros = Math.max(answeredMicros, answers[replica]);
      }
    }
  }

  /**
   * How long after a write's start the read must begin to see it at one of those who answer.
   *
   * @param clock as in {@link Trial#missingMicros}
   */
  double missingMicros(Trial trial, int clock) {
    double least = Double.POSITIVE_INFINITY;
    for (int i = 0; i < answering; i++) {
      least = Math.min(least, trial.missingMicros(replicas[i], clock));
    }
    return least;
  }

  @Override
  public String toString() {
    return Arrays.toString(Arrays.copyOf(replicas, answering)) + " by " + answeredMicros;
  }
}
