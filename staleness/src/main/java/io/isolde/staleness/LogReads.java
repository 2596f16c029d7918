// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness;

import java.util.List;
import java.util.function.DoubleUnaryOperator;

/**
 * Two reads of a row, each of any of a leader and its followers, among random (Poisson) writes of
 * it. A replica shows all of the log up to some entry. So the second read is older than the first
 * just if its replica doesn't have what the first one showed. Delays of different followers are
 * taken for independent of each other, and those of one follower for independent of this row.
 *
 * <p>Replicas are given by F, the probability that one has a write at a time after its answer. The
 * leader's is 1.
 */
final class LogReads {
  private static final double FIRST_MICROS = 1;
  private static final double STEP = 1.03;

  /** Nearly never is the last write of a row older than so many intervals. */
  private static final int MAX_INTERVALS = 30;

  private final double writeIntervalMicros;
  private final double readIntervalMicros;

  LogReads(double writeIntervalMicros, double readIntervalMicros) {
    this.writeIntervalMicros = writeIntervalMicros;
    this.readIntervalMicros = readIntervalMicros;
  }

  /**
   * The probability that the second read is not older.
   *
   * @param first by follower, F where the first read meets it
   * @param second by follower, F where the second read does
   */
  double monotonic(List<DoubleUnaryOperator> first, List<DoubleUnaryOperator> second) {
    double backwards = 0;
    for (int to = 0; to < second.size(); to++) {
      backwards += backwards(LogReads::ofLeader, second.get(to));
      for (int from = 0; from < first.size(); from++) {
        // A replica does not go back, and the leader has all.
        backwards += from == to ? 0 : backwards(first.get(from), second.get(to));
      }
    }
    double replicas = 1 + first.size();
    return 1 - backwards / (replicas * replicas);
  }

  private static double ofLeader(double micros) {
    return micros < 0 ? 0 : 1;
  }

  /**
   * From one replica to another. Let S(g) be the probability that all that the first one shows is
   * older than g: that the oldest of the writes since then, if there was any, is not there yet. Let
   * r be the row's rate of writes. Then S(g) = exp(-rg) + the integral of r exp(-re) (1 - F(g - e))
   * de over e from 0 to g. So S' = -r (S - (1 - F)), which is solved step by step, F standing still
   * in each.
   */
  private double backwards(DoubleUnaryOperator first, DoubleUnaryOperator second) {
    double backwards = 0;
    double older = 1;
    double age = 0;
    while (age < MAX_INTERVALS * writeIntervalMicros) {
      double next = age == 0 ? FIRST_MICROS : age * STEP;
      double middle = (age + next) / 2;
      double missing = 1 - first.applyAsDouble(middle);
      double stillOlder =
          missing + (older - missing) * Math.exp((age - next) / writeIntervalMicros);
      double shown = Math.max(0, older - stillOlder);
      backwards += shown * (1 - second.applyAsDouble(middle + readIntervalMicros));
      older = stillOlder;
      age = next;
    }
    return backwards;
  }
}
