// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness.collect;

import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * What is remembered of requests until they are answered: the latest only, in a fixed number of
 * places. Who comes into another's place takes it; that one just isn't measured.
 */
final class Pending {
  private static final int PLACES = 4096;

  /**
   * A request.
   *
   * @param id of the message
   * @param peer whom it came from; null if we sent it, to several perhaps
   * @param atNanos when it was sent or arrived
   */
  record Request(long id, Object peer, long atNanos, String table, boolean isWrite) {}

  private final AtomicReferenceArray<Request> places = new AtomicReferenceArray<>(PLACES);

  /** Remembers a request, unless it is remembered already: the first of several sendings counts. */
  void add(Request request) {
    int place = place(request.id(), request.peer());
    Request there = places.get(place);
    if (there == null || !isOf(there, request.id(), request.peer())) {
      places.set(place, request);
    }
  }

  /** What is remembered of a request, or null. It stays, since other replicas may answer it. */
  Request find(long id, Object peer) {
    Request there = places.get(place(id, peer));
    return there != null && isOf(there, id, peer) ? there : null;
  }

  private static boolean isOf(Request request, long id, Object peer) {
    return request.id() == id
        && (peer == null ? request.peer() == null : peer.equals(request.peer()));
  }

  private static int place(long id, Object peer) {
    long hash = (id + (peer == null ? 0 : peer.hashCode())) * 0x9E3779B97F4A7C15L;
    return (int) (hash >>> 32) & (PLACES - 1);
  }
}
