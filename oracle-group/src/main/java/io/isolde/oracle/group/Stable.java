// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.netty.buffer.ByteBuf;

/**
 * A snapshot, and what one must know to use it.
 *
 * @param timestamp every commit at or below it is applied or in doubt
 * @param epoch of the commits that were in doubt when it was looked up: of {@link
 *     io.isolde.oracle.InDoubtCommits}
 */
public record Stable(long timestamp, long epoch) {
  /** Says nothing: below every snapshot that there can be. */
  static final Stable NOT_KNOWN = new Stable(0, 0);

  ByteBuf writeTo(ByteBuf out) {
    return out.writeLong(timestamp).writeLong(epoch);
  }

  static Stable read(ByteBuf in) {
    return new Stable(in.readLong(), in.readLong());
  }
}
