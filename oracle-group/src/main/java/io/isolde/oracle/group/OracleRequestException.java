// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

/** Why a request to the oracle got no result. */
public final class OracleRequestException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** What a caller does about it. */
  public enum Reason {
    /** Too much is under way, here or at the leader. Nothing was done; later it may work. */
    OVERLOADED,
    /**
     * No leader answered in time. Nothing was done if it only asks; else the outcome is unknown.
     */
    TIMED_OUT,
    /** The coordinator was silent for too long, and may not decide. Nothing was done. */
    FENCED,
    /** The request makes no sense to the leader. Nothing was done; repeating it won't help. */
    REFUSED,
    /** This client is closed. As {@link #TIMED_OUT}. */
    CLOSED
  }

  private final Reason reason;

  OracleRequestException(Reason reason, String message) {
    super(message);
    this.reason = reason;
  }

  public Reason reason() {
    return reason;
  }
}
