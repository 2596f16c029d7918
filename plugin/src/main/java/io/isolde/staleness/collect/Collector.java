// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness.collect;

import io.isolde.staleness.Place;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.LongSupplier;

/**
 * Makes delays of what happens to sampled messages. Knows nothing of Cassandra: peers are any
 * objects with equality.
 */
final class Collector {
  /** Beyond so many nodes, clocks of further ones aren't learnt. */
  private static final int MAX_PEERS = 10_000;

  private final Sampling sampling;
  private final DelayBook book;
  private final Function<Object, Place> places;
  private final Place self;
  private final LongSupplier nanos;

  private final Pending sent = new Pending();
  private final Pending arrived = new Pending();
  private final Map<Object, PeerClock> clocks = new ConcurrentHashMap<>();

  Collector(
      int oneIn, DelayBook book, Place self, Function<Object, Place> places, LongSupplier nanos) {
    this.sampling = new Sampling(oneIn);
    this.book = book;
    this.self = self;
    this.places = places;
    this.nanos = nanos;
  }

  boolean samples(long id) {
    return sampling.includes(id);
  }

  /** This node sends a request; perhaps not the first time. */
  void requestSent(long id, String table, boolean isWrite) {
    sent.add(new Pending.Request(id, null, nanos.getAsLong(), table, isWrite));
  }

  /** This node begins with a request of another one. */
  void requestArrived(long id, Object from, String table, boolean isWrite) {
    arrived.add(new Pending.Request(id, from, nanos.getAsLong(), table, isWrite));
  }

  /** This node answers; returns what to put on the answer, or null. */
  AnswerStamp answerSent(long id, Object to) {
    Pending.Request request = arrived.find(id, to);
    if (request == null) {
      return null;
    }
    AnswerStamp stamp = new AnswerStamp(request.atNanos(), nanos.getAsLong());
    if (!request.isWrite()) {
      book.recordLocalRead(
          request.table(), self, (stamp.answeredNanos() - stamp.arrivedNanos()) / 1e3);
    }
    return stamp;
  }

  /** An answer with a stamp arrives. */
  void answerArrived(long id, Object from, AnswerStamp stamp) {
    long now = nanos.getAsLong();
    Pending.Request request = sent.find(id, null);
    PeerClock clock = request == null ? null : clock(from);
    if (clock == null) {
      return;
    }
    // A write is there when the replica answers; a read looks at data when it begins.
    long turnaround = request.isWrite() ? stamp.answeredNanos() : stamp.arrivedNanos();
    PeerClock.Ways ways = clock.learn(request.atNanos(), stamp, turnaround, now);
    if (ways != null) {
      book.record(request.table(), places.apply(from), request.isWrite(), ways);
    }
  }

  private PeerClock clock(Object peer) {
    PeerClock clock = clocks.get(peer);
    if (clock != null || clocks.size() >= MAX_PEERS) {
      return clock;
    }
    return clocks.computeIfAbsent(peer, p -> new PeerClock());
  }
}
