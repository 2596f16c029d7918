// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.isolde.raft.Peer;
import io.isolde.raft.transport.FutureResponse;
import io.isolde.raft.transport.NodeConnections;
import io.isolde.raft.transport.PeerClient;
import java.net.InetSocketAddress;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Asks all members at once who leads, over connections that stay open, unless nothing comes on them
 * any more: one that hangs holds up nobody. If no member that is known says so for two seconds,
 * other nodes are asked, too: all members that were known may be gone. Bounded: one question at a
 * time to each.
 */
final class LeaderSearch {
  /** A member answers at once; else the connection may be of no use any more. */
  private static final long QUESTION_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final int MAX_ASKED = 64;

  /** Elections are over by then. */
  private static final long OTHERS_AFTER_NANOS = TimeUnit.SECONDS.toNanos(2);

  /** The rest of those that can be asked are for members that are heard of later. */
  private static final int MAX_OTHERS = 32;

  /** Hears who leads. */
  interface Found {
    void onLeader(PeerClient client, InetSocketAddress address, Leading leading);
  }

  /** Who can be asked. Guarded by the search. */
  private static final class Candidate {
    private final InetSocketAddress address;
    private boolean isAsked;
    private long askedNanos;

    private Candidate(InetSocketAddress address) {
      this.address = address;
    }
  }

  private final NodeConnections connections;
  private final Found found;
  private final Map<InetSocketAddress, Candidate> candidates = new LinkedHashMap<>();
  private volatile Supplier<? extends Collection<InetSocketAddress>> others = List::of;
  private int othersAdded;
  private boolean isLooking;
  private long lookingSinceNanos;
  private boolean isClosed;

  LeaderSearch(NodeConnections connections, Collection<InetSocketAddress> members, Found found) {
    this.connections = connections;
    this.found = found;
    members.forEach(this::add);
  }

  private synchronized void add(InetSocketAddress address) {
    if (candidates.size() < MAX_ASKED) {
      candidates.computeIfAbsent(address, Candidate::new);
    }
  }

  /**
   * Whom to ask when no member that is known tells who leads.
   *
   * @param newOthers must not block
   */
  void alsoAsk(Supplier<? extends Collection<InetSocketAddress>> newOthers) {
    others = newOthers;
  }

  private void addOthers(long now) {
    if (!isLooking) {
      isLooking = true;
      lookingSinceNanos = now;
    } else if (now - lookingSinceNanos >= OTHERS_AFTER_NANOS) {
      lookingSinceNanos = now;
      for (InetSocketAddress other : others.get()) {
        if (othersAdded < MAX_OTHERS && !candidates.containsKey(other)) {
          add(other);
          othersAdded++;
        }
      }
    }
  }

  private synchronized void found() {
    isLooking = false;
  }

  /** There may be more members than are known. */
  void learn(Leading leading) {
    leading.members().stream().map(Peer::address).forEach(this::add);
  }

  /** Asks everybody who is not being asked already. */
  synchronized void look() {
    if (isClosed) {
      return;
    }
    long now = System.nanoTime();
    addOthers(now);
    List.copyOf(candidates.values()).forEach(candidate -> ask(candidate, now));
  }

  private void ask(Candidate candidate, long now) {
    if (candidate.isAsked) {
      if (now - candidate.askedNanos < QUESTION_NANOS) {
        return;
      }
      connections.closeIfSilent(candidate.address);
    }
    candidate.isAsked = true;
    candidate.askedNanos = now;
    var unused =
        connections
            .connection(candidate.address)
            .whenComplete(
                (client, failure) -> {
                  if (failure != null) {
                    answered(candidate);
                  } else {
                    ask(candidate, client);
                  }
                });
  }

  private void ask(Candidate candidate, PeerClient client) {
    FutureResponse<Optional<Leading>> answer =
        new FutureResponse<>(
            body ->
                body.readByte() == Protocol.OK
                    ? Optional.of(Leading.read(body))
                    : Optional.empty());
    var unused =
        answer.whenComplete(
            (leading, failure) -> {
              answered(candidate);
              if (failure == null && leading.isPresent()) {
                heard(client, candidate.address, leading.get());
              }
            });
    client.send(Protocol.SERVICE, Wire.of(Protocol.WHO_LEADS), answer);
  }

  private void heard(PeerClient client, InetSocketAddress address, Leading leading) {
    try {
      learn(leading);
      if (leading.isServing()) {
        found();
        found.onLeader(client, address, leading);
      }
    } catch (RuntimeException e) {
      client.close(); // So the search starts again: nobody looks at what is thrown here.
      throw e;
    }
  }

  private synchronized void answered(Candidate candidate) {
    candidate.isAsked = false;
  }

  synchronized void close() {
    isClosed = true;
    connections.close();
  }
}
