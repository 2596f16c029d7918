// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

/**
 * A write on its way into the log.
 *
 * @param id names it
 * @param decidedInTerm the term of the leader that decided on it by what was stored then: in
 *     another term it is not applied, as others may have written since; {@link #BLIND} if it does
 *     not depend on that
 * @param keyHashes of the partitions that it writes; empty if it concerns all of them
 * @param payload what the log keeps of it
 * @param decoded the same as the {@link Storage} of this process gave it; null if it came from
 *     another node
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record Write(
    RequestId id, long decidedInTerm, int[] keyHashes, byte[] payload, Object decoded) {
  /** Terms begin with 1. */
  static final long BLIND = 0;

  Write(RequestId id, int[] keyHashes, byte[] payload, Object decoded) {
    this(id, BLIND, keyHashes, payload, decoded);
  }

  /** About what it takes in the log. */
  int bytes() {
    return payload.length + Entry.ITEM_HEADER_BYTES;
  }
}
