// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.netty.buffer.ByteBuf;
import java.util.List;

/**
 * What a coordinator is told when it renews its lease.
 *
 * @param isOpen whether its session still is; if not, it may decide nothing any more
 * @param stable the newest snapshot
 * @param lowWatermark no open transaction reads below it
 * @param last at or above every timestamp that the member that answered has issued
 * @param isProven whether that one led at a moment after it was asked. If so, {@code last} is at or
 *     above every timestamp that anybody had issued by then
 * @param unlogged of the commits that it has told to be applied those of which the log does not
 *     know it yet
 */
public record RenewedLease(
    boolean isOpen,
    Stable stable,
    long lowWatermark,
    long last,
    boolean isProven,
    List<Long> unlogged) {

  /** The same, from a leader that is known to lead, or not. */
  RenewedLease proven(boolean leads) {
    return new RenewedLease(isOpen, stable, lowWatermark, last, leads, unlogged);
  }

  ByteBuf writeTo(ByteBuf out) {
    stable.writeTo(out.writeBoolean(isOpen)).writeLong(lowWatermark).writeLong(last);
    out.writeBoolean(isProven);
    return Wire.write(out, unlogged);
  }

  static RenewedLease read(ByteBuf in) {
    return new RenewedLease(
        in.readBoolean(),
        Stable.read(in),
        in.readLong(),
        in.readLong(),
        in.readBoolean(),
        Wire.longs(in));
  }
}
