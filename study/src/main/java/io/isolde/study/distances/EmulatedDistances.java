// SPDX-License-Identifier: Apache-2.0
package io.isolde.study.distances;

import io.isolde.staleness.Delay;
import io.isolde.staleness.Place;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.apache.cassandra.locator.InetAddressAndPort;
import org.apache.cassandra.net.Message;
import org.apache.cassandra.net.MessagingService;
import org.apache.cassandra.net.Verb;
import org.apache.cassandra.utils.FBUtilities;

/**
 * Holds up the messages of reads and writes that this node sends, each by a delay of its own, so
 * one may overtake another. Gossip and all else goes on as fast as it can.
 */
final class EmulatedDistances {
  /** More than so many messages at once aren't held up. */
  private static final int MAX_MESSAGES = 100_000;

  private final Distances distances;
  private final Function<InetAddressAndPort, Place> places;
  private final ThreadLocal<Boolean> isSendingNow = ThreadLocal.withInitial(() -> false);
  private final ScheduledThreadPoolExecutor later =
      new ScheduledThreadPoolExecutor(
          1,
          task -> {
            Thread thread = new Thread(task, "isolde-distances");
            thread.setDaemon(true);
            return thread;
          });

  EmulatedDistances(Distances distances, Function<InetAddressAndPort, Place> places) {
    this.distances = distances;
    this.places = places;
  }

  /** From now on. */
  void start() {
    MessagingService.instance().outboundSink.add((message, to) -> !holdsUp(message, to));
  }

  /** Whether the message is held up: then it will be sent again, and goes through. */
  private boolean holdsUp(Message<?> message, InetAddressAndPort to) {
    if (isSendingNow.get() || !isOfData(message.verb()) || later.getQueue().size() > MAX_MESSAGES) {
      return false;
    }
    Place from = places.apply(FBUtilities.getBroadcastAddressAndPort());
    double micros =
        distances.between(from, places.apply(to)).drawMicros(ThreadLocalRandom.current());
    if (message.verb() == Verb.MUTATION_REQ) {
      Delay writes = distances.ofWrites();
      micros += writes.drawMicros(ThreadLocalRandom.current());
    }
    if (micros <= 0) {
      return false;
    }
    var unused =
        later.schedule(() -> send(message, to), Math.round(micros * 1e3), TimeUnit.NANOSECONDS);
    return true;
  }

  private void send(Message<?> message, InetAddressAndPort to) {
    isSendingNow.set(true);
    try {
      MessagingService.instance().send(message, to);
    } finally {
      isSendingNow.set(false);
    }
  }

  private static boolean isOfData(Verb verb) {
    return switch (verb) {
      case MUTATION_REQ, MUTATION_RSP, READ_REQ, READ_RSP, RANGE_REQ, RANGE_RSP -> true;
      case READ_REPAIR_REQ, READ_REPAIR_RSP -> true;
      default -> false;
    };
  }
}
