// SPDX-License-Identifier: Apache-2.0
package io.isolde.study.distances;

import io.isolde.staleness.Place;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.cassandra.exceptions.ConfigurationException;
import org.apache.cassandra.locator.GossipingPropertyFileSnitch;
import org.apache.cassandra.locator.InetAddressAndPort;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Nodes are where {@link GossipingPropertyFileSnitch} finds them, and as far as {@link Distances}
 * says. Messages are held up from the start of gossip on: nodes don't know before where others are.
 * So Isolde, which adds its sink later, takes the time of a message before it is held up.
 */
public final class DistantSnitch extends GossipingPropertyFileSnitch {
  private static final Logger logger = LoggerFactory.getLogger(DistantSnitch.class);

  private final EmulatedDistances distances = new EmulatedDistances(read(), this::placeOf);

  /** Operators can stop gossip and start it again. */
  private final AtomicBoolean isStarted = new AtomicBoolean();

  private static Distances read() {
    String file = System.getProperty(Distances.FILE_PROPERTY, "");
    try {
      return Distances.parse(Files.readString(Path.of(file)));
    } catch (IOException | IllegalArgumentException e) {
      throw new ConfigurationException("%s=%s: %s".formatted(Distances.FILE_PROPERTY, file, e), e);
    }
  }

  private Place placeOf(InetAddressAndPort node) {
    return new Place(getDatacenter(node), getRack(node));
  }

  @Override
  public void gossiperStarting() {
    super.gossiperStarting();
    if (isStarted.compareAndSet(false, true)) {
      logger.warn("Messages between nodes are held up, as for a study or a test.");
      distances.start();
    }
  }
}
