// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.transport;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Peers of builds that speak none of our formats. They are refused before anything is asked, so
 * that nothing is misunderstood. Thread-safe.
 */
final class OtherBuilds {
  private static final Logger log = LoggerFactory.getLogger(OtherBuilds.class);

  /** Peers try again all the time, so one that was not refused for so long is gone. */
  private static final long SHOWN_NANOS = TimeUnit.SECONDS.toNanos(30);

  private static final int MAX_PEERS = 1000;

  private record Refusal(String sentence, long nanos) {}

  private final Formats own;
  private final LogLimit limit;

  /** The last of each peer; guarded by itself, the oldest make room. */
  private final Map<InetAddress, Refusal> refused =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<InetAddress, Refusal> eldest) {
          return size() > MAX_PEERS;
        }
      };

  OtherBuilds(Formats own, LogLimit limit) {
    this.own = own;
    this.limit = limit;
  }

  /** What this build speaks. */
  Formats own() {
    return own;
  }

  /** Returns why a peer that speaks that is refused; empty if it isn't. */
  Optional<String> refusal(InetSocketAddress peer, Formats theirs) {
    InetAddress address = peer.getAddress();
    if (own.meet(theirs)) {
      synchronized (refused) {
        refused.remove(address);
      }
      return Optional.empty();
    }
    String sentence =
        "The node %s runs a build of Isolde that speaks %s of messages, and this node's speaks %s, so"
                .formatted(address.getHostAddress(), theirs, own)
            + " they do not talk. Upgrade the older one, over a build that speaks both if there is"
            + " one.";
    synchronized (refused) {
      refused.remove(address);
      refused.put(address, new Refusal(sentence, System.nanoTime()));
    }
    if (limit.allows(address)) {
      log.warn("{}", sentence);
    }
    return Optional.of(sentence);
  }

  /** About one of those that were refused lately; empty if none was. */
  Optional<String> problem() {
    long now = System.nanoTime();
    synchronized (refused) {
      return refused.values().stream()
          .filter(refusal -> now - refusal.nanos() < SHOWN_NANOS)
          .map(Refusal::sentence)
          .findFirst();
    }
  }
}
