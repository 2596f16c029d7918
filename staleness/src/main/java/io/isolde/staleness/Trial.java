// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness;

/** One write and one read of the same row, as drawn by a {@link DelayModel}; used over and over. */
public final class Trial {
  /** By replica: when the write is visible there, after the coordinator sent it. */
  final double[] writeMicros;

  /** By replica: how long the acknowledgement takes from there. */
  final double[] ackMicros;

  /** By replica: when the read looks at the data there, after the coordinator sent it. */
  final double[] requestMicros;

  /** By replica: how long the answer takes from there. */
  final double[] responseMicros;

  /** By replica: the datacenter it is in. */
  final int[] datacenters;

  /** The replicas, in the order in which the reader's coordinator prefers them. */
  final int[] preference;

  /** The datacenters of the two coordinators. */
  int writerDatacenter;

  int readerDatacenter;

  /** For a model's own use: the nodes that hold the row, and those that coordinate for it. */
  int[] replicaNodes;

  int[] coordinatorNodes;

  int writerNode;

  Trial(int replicas) {
    writeMicros = new double[replicas];
    ackMicros = new double[replicas];
    requestMicros = new double[replicas];
    responseMicros = new double[replicas];
    datacenters = new int[replicas];
    preference = new int[replicas];
  }

  int replicas() {
    return writeMicros.length;
  }
}
