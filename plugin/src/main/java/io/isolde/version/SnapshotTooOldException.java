// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

/** A replica was asked for a past that it no longer has. The coordinator turns it into an error. */
public final class SnapshotTooOldException extends RuntimeException {
  private final long asOf;
  private final long horizon;

  /** An answer, perhaps of another node. */
  public SnapshotTooOldException(long asOf, long horizon) {
    this(asOf, horizon, "versions before " + horizon + " are gone");
  }

  private SnapshotTooOldException(long asOf, long horizon, String why) {
    // No stack trace: it is an answer, not a defect, and old readers may come in numbers.
    super("cannot read as of " + asOf + ": " + why, null, false, false);
    this.asOf = asOf;
    this.horizon = horizon;
  }

  /** A replica that can vouch for nothing yet. */
  static SnapshotTooOldException afterDeath(long asOf) {
    return new SnapshotTooOldException(
        asOf, Long.MAX_VALUE, "this node died, and is getting back what it may have lost");
  }

  public long asOf() {
    return asOf;
  }

  public long horizon() {
    return horizon;
  }
}
