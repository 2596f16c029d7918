// SPDX-License-Identifier: Apache-2.0
package io.isolde.history;

import java.util.Objects;

/**
 * One operation of one client on one register, which has a number or nothing.
 *
 * @param expected of a swap: what must be there; null for nothing
 * @param value what was read, or is written
 * @param isApplied of a swap: whether it wrote; else true
 * @param invokedNanos when it was sent
 * @param returnedNanos when it was answered; {@link #NEVER} if the client does not know what became
 *     of it: it may take effect at any time after it was sent, or not at all
 */
public record RegisterOperation(
    Kind kind,
    Integer expected,
    Integer value,
    boolean isApplied,
    long invokedNanos,
    long returnedNanos) {
  /** Of operations without an answer. */
  public static final long NEVER = Long.MAX_VALUE;

  /** What it does. */
  public enum Kind {
    READ,
    WRITE,
    /** Writes if the expected is there. */
    SWAP
  }

  boolean isAnswered() {
    return returnedNanos != NEVER;
  }

  /** Whether it could happen to a register with this, and be answered as it was. */
  boolean isPossible(Integer state) {
    return switch (kind) {
      case READ -> !isAnswered() || Objects.equals(state, value);
      case WRITE -> true;
      case SWAP -> !isAnswered() || isApplied == Objects.equals(state, expected);
    };
  }

  /** What the register has after it. */
  Integer after(Integer state) {
    return switch (kind) {
      case READ -> state;
      case WRITE -> value;
      case SWAP -> Objects.equals(state, expected) ? value : state;
    };
  }

  @Override
  public String toString() {
    String what =
        switch (kind) {
          case READ -> "read " + value;
          case WRITE -> "write " + value;
          case SWAP -> "swap " + expected + " for " + value + (isApplied ? "" : ": refused");
        };
    return isAnswered() ? what : what + ", unknown";
  }
}
