// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Set;
import java.util.UUID;

/**
 * The transactions that were aborted because somebody asked for it, while their coordinators may
 * yet send their commits. The outcomes of the oracle keep them, too, but among all others, which
 * may push them out in seconds; these are few.
 */
final class RequestedAborts {
  /** More than there are clients that lose their coordinators while a transaction is open. */
  static final int MOST = 4096;

  private record Aborted(UUID transactionId, long atMicros) {}

  private final Deque<Aborted> inOrder = new ArrayDeque<>();
  private final Set<UUID> ids = new HashSet<>();

  /** Only grows. */
  private long forgottenUpTo = -1;

  void add(UUID transactionId, long atMicros) {
    if (!ids.add(transactionId)) {
      return;
    }
    inOrder.add(new Aborted(transactionId, atMicros));
    if (inOrder.size() > MOST) {
      Aborted oldest = inOrder.remove();
      ids.remove(oldest.transactionId);
      forgottenUpTo = Math.max(forgottenUpTo, oldest.atMicros);
    }
  }

  boolean contains(UUID transactionId) {
    return ids.contains(transactionId);
  }

  /** Whether a transaction that began at a start timestamp may be one of those forgotten. */
  boolean isPerhapsForgotten(long startTimestamp) {
    return startTimestamp <= forgottenUpTo;
  }

  void writeTo(Bytes out) {
    out.putLong(forgottenUpTo).putInt(inOrder.size());
    inOrder.forEach(aborted -> out.putId(aborted.transactionId).putLong(aborted.atMicros));
  }

  static RequestedAborts readFrom(ByteBuffer in) {
    RequestedAborts aborts = new RequestedAborts();
    aborts.forgottenUpTo = in.getLong();
    int size = in.getInt();
    for (int i = 0; i < size; i++) {
      aborts.add(Bytes.id(in), in.getLong());
    }
    return aborts;
  }
}
