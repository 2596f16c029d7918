// SPDX-License-Identifier: Apache-2.0
package io.isolde.history;

/** Why one transaction comes before another. An edge of the graph: each is an object of its own. */
final class Dependency {
  enum Kind {
    /** The other one wrote the next version. */
    WRITE_WRITE,
    /** The other one read what this one wrote. */
    WRITE_READ,
    /** The other one wrote the version after that which this one read. */
    READ_WRITE,
    /** This one had ended before the other one began. */
    REAL_TIME
  }

  private final int from;
  private final int to;
  private final Kind kind;
  private final String because;

  Dependency(int from, int to, Kind kind, String because) {
    this.from = from;
    this.to = to;
    this.kind = kind;
    this.because = because;
  }

  int from() {
    return from;
  }

  int to() {
    return to;
  }

  Kind kind() {
    return kind;
  }

  @Override
  public String toString() {
    return "T" + from + " before T" + to + ", because " + because;
  }
}
