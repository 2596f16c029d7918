// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness.emulate;

import io.isolde.config.IsoldeConfig.ConfigurationException;
import io.isolde.staleness.Delay;
import io.isolde.staleness.Distances;
import io.isolde.staleness.Place;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.apache.cassandra.locator.InetAddressAndPort;
import org.apache.cassandra.net.Message;
import org.apache.cassandra.net.MessagingService;
import org.apache.cassandra.net.Verb;
import org.apache.cassandra.utils.FBUtilities;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Holds up the messages of reads and writes, each by a delay of its own, so one may overtake
 * another. Gossip and all else goes on as fast as it can.
 */
public final class EmulatedDistances {
  private static final Logger logger = LoggerFactory.getLogger(EmulatedDistances.class);

  /** More than so many messages at once aren't held up. */
  private static final int MOST_MESSAGES = 100_000;

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

  private EmulatedDistances(Distances distances, Function<InetAddressAndPort, Place> places) {
    this.distances = distances;
    this.places = places;
  }

  /**
   * Reads the distances.
   *
   * @throws ConfigurationException if the file can't be read or isn't understood
   */
  public static EmulatedDistances start(String file, Function<InetAddressAndPort, Place> places) {
    try {
      Distances distances = Distances.parse(Files.readString(Path.of(file)));
      logger.warn("Messages between nodes are held up as {} says.", file);
      return new EmulatedDistances(distances, places);
    } catch (IOException | IllegalArgumentException e) {
      throw new ConfigurationException("emulated_distances: " + e.getMessage());
    }
  }

  /** Whether the message is held up: then it will be sent again, and goes through. */
  public boolean holdsUp(Message<?> message, InetAddressAndPort to) {
    if (isSendingNow.get()
        || !isOfData(message.verb())
        || later.getQueue().size() > MOST_MESSAGES) {
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
