// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

/** A replica was asked for a past that it no longer has. The coordinator turns it into an error. */
public final class SnapshotTooOldException extends RuntimeException {
  private final long asOf;
  private final long horizon;

  /** An answer, perhaps of another node. */
  public SnapshotTooOldException(long asOf, long horizon) {
    // No stack trace: it is an answer, not a defect, and old readers may come in numbers.
    super(
        "cannot read as of " + asOf + ": versions before " + horizon + " are gone",
        null,
        false,
        false);
    this.asOf = asOf;
    this.horizon = horizon;
  }

  public long asOf() {
    return asOf;
  }

  public long horizon() {
    return horizon;
  }
}
