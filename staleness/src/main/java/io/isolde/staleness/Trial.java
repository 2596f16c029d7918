// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness;

/** One write and one read of the same row, as drawn by a {@link DelayModel}; used over and over. */
public final class Trial {
  /** A coordinator with a clock of its own. */
  static final int SOME_NODE = -1;

  /** By replica: when the write is visible there, after the coordinator sent it. */
  final double[] writeMicros;

  /** By replica: how long the acknowledgement takes from there. */
  final double[] ackMicros;

  /** By replica: when the read looks at the data there, after the coordinator sent it. */
  final double[] requestMicros;

  /** By replica: how long the answer takes from there. */
  final double[] responseMicros;

  /**
   * By replica: by how much what is above may be later there, and the way back shorter, or the
   * other way round. It stands for what is not known of the clocks. A coordinator times round trips
   * by its own clock: when it has an answer does not depend on that.
   */
  final double[] writeUncertaintyMicros;

  final double[] readUncertaintyMicros;

  /** By replica: the datacenter it is in. */
  final int[] datacenters;

  /** The replicas, in the order in which the reader's coordinator prefers them. */
  final int[] preference;

  /** The datacenters of the two coordinators. */
  int writerDatacenter;

  int readerDatacenter;

  /** The two coordinators, whose clocks err alike if they are one: or {@link #SOME_NODE}. */
  int writerNode = SOME_NODE;

  int readerNode = SOME_NODE;

  /** For a model's own use: the nodes that hold the row, and those that coordinate for it. */
  int[] replicaNodes;

  int[] coordinatorNodes;

  Trial(int replicas) {
    writeMicros = new double[replicas];
    ackMicros = new double[replicas];
    requestMicros = new double[replicas];
    responseMicros = new double[replicas];
    writeUncertaintyMicros = new double[replicas];
    readUncertaintyMicros = new double[replicas];
    datacenters = new int[replicas];
    preference = new int[replicas];
  }

  int replicas() {
    return writeMicros.length;
  }

  static boolean isOneNode(int node, int other) {
    return node == other && node != SOME_NODE;
  }

  /**
   * How long after the write's start a read must begin to see it at a replica.
   *
   * @param clock 0 as is estimated; 1 if the clocks are such that it is latest, -1 if soonest
   */
  double missingMicros(int replica, int clock) {
    int bound = isOneNode(writerNode, readerNode) ? 0 : clock;
    return writeMicros(replica, bound) - requestMicros(replica, -bound);
  }

  /** When the write is visible at a replica: as estimated, or later (1), or sooner (-1). */
  double writeMicros(int replica, int clock) {
    return Math.max(0, writeMicros[replica] + clock * writeUncertaintyMicros[replica]);
  }

  /** When the read looks at a replica's data: as estimated, or later (1), or sooner (-1). */
  double requestMicros(int replica, int clock) {
    return Math.max(0, requestMicros[replica] + clock * readUncertaintyMicros[replica]);
  }
}
