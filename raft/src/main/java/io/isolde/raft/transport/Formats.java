// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.transport;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;

/**
 * Which formats of messages, and of what is in logs, a build understands. Builds whose ranges meet
 * can share a cluster: the newer one takes care that the older one understands what it sends.
 *
 * @param newest goes up with each change after which older builds can't follow
 * @param oldest of the builds with which this one can talk
 */
public record Formats(int newest, int oldest) {
  /** Of builds that did not say yet what they speak. */
  static final Formats UNSTATED = new Formats(1, 1);

  /** In a file, so that a test can make another build of this one. */
  private static final String RESOURCE = "formats.properties";

  private static final Formats OF_THIS_BUILD = load();

  /** Refuses what cannot work. */
  public Formats {
    if (oldest < 1 || newest < oldest) {
      throw new IllegalArgumentException(
          "The oldest format is " + oldest + ", and the newest is " + newest + ".");
    }
  }

  /** Those of this build. */
  public static Formats ofThisBuild() {
    return OF_THIS_BUILD;
  }

  private static Formats load() {
    Properties read = new Properties();
    try (InputStream in = Formats.class.getResourceAsStream(RESOURCE)) {
      read.load(in);
    } catch (IOException e) {
      throw new UncheckedIOException("The jar of Isolde is damaged: " + RESOURCE, e);
    }
    return new Formats(
        Integer.parseInt(read.getProperty("newest")), Integer.parseInt(read.getProperty("oldest")));
  }

  /** Whether there is a format that both understand. */
  public boolean meet(Formats other) {
    return newest >= other.oldest && other.newest >= oldest;
  }

  @Override
  public String toString() {
    return oldest == newest ? "format " + newest : "formats " + oldest + " to " + newest;
  }
}
