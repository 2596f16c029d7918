// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness;

import java.util.Arrays;

/** How many replicas must answer, and where. Immutable. */
public final class Requirement {

  /** Whose answers count. */
  public enum Kind {
    /** Those of all replicas alike. */
    ANY,
    /** Those in the coordinator's datacenter. */
    LOCAL,
    /** Those of each datacenter, all of which must reach their number. */
    EACH
  }

  private final Kind kind;
  private final int[] counts;

  /**
   * Makes a requirement.
   *
   * @param kind whose answers count
   * @param counts for {@code ANY} one number; otherwise one for each datacenter
   */
  Requirement(Kind kind, int... counts) {
    this.kind = kind;
    this.counts = counts.clone();
  }

  /** That many replicas, wherever they are. */
  public static Requirement of(int replicas) {
    return new Requirement(Kind.ANY, replicas);
  }

  /** How many of a datacenter, with so many replicas, answer at least. */
  int leastIn(int datacenter, int[] replicasByDatacenter, int coordinatorDatacenter) {
    int elsewhere = Arrays.stream(replicasByDatacenter).sum() - replicasByDatacenter[datacenter];
    return switch (kind) {
      case ANY -> Math.max(0, counts[0] - elsewhere);
      case LOCAL -> datacenter == coordinatorDatacenter ? counts[datacenter] : 0;
      case EACH -> counts[datacenter];
    };
  }

  /** How many are needed for a coordinator in the datacenter. */
  int needed(int datacenter) {
    return switch (kind) {
      case ANY -> counts[0];
      case LOCAL -> counts[datacenter];
      case EACH -> Arrays.stream(counts).sum();
    };
  }

  /** Whether an answer from a datacenter may count for a coordinator in another. */
  boolean counts(int replicaDatacenter, int coordinatorDatacenter) {
    return kind != Kind.LOCAL || replicaDatacenter == coordinatorDatacenter;
  }

  /**
   * When it is met, given when each replica answers.
   *
   * @param scratch of the same length, overwritten
   */
  double metAt(double[] answers, int[] datacenters, int coordinatorDatacenter, double[] scratch) {
    if (kind != Kind.EACH) {
      int wanted = kind == Kind.ANY ? -1 : coordinatorDatacenter;
      return nth(needed(coordinatorDatacenter), answers, datacenters, wanted, scratch);
    }
    double last = 0;
    for (int datacenter = 0; datacenter < counts.length; datacenter++) {
      if (counts[datacenter] > 0) {
        last = Math.max(last, nth(counts[datacenter], answers, datacenters, datacenter, scratch));
      }
    }
    return last;
  }

  private static double nth(
      int n, double[] answers, int[] datacenters, int wanted, double[] scratch) {
    int found = 0;
    for (int i = 0; i < answers.length; i++) {
      if (wanted < 0 || datacenters[i] == wanted) {
        scratch[found++] = answers[i];
      }
    }
    if (n == 0) {
      return 0;
    }
    Arrays.sort(scratch, 0, found);
    return scratch[n - 1];
  }

  @Override
  public String toString() {
    return kind + Arrays.toString(counts);
  }
}
