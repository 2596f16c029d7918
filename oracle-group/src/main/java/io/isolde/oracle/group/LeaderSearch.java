// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.isolde.raft.Peer;
import io.isolde.raft.PeerClient;
import io.isolde.raft.ResponseHandler;
import io.isolde.raft.TransportException;
import io.netty.buffer.ByteBuf;
import java.net.InetSocketAddress;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Asks all members at once who leads, over connections that stay open: one that hangs holds up
 * nobody. If no member that is known says so for two seconds, other nodes are asked, too: all
 * members that were known may be gone. Bounded: one question at a time to each.
 */
public final class LeaderSearch {
  private static final long QUESTION_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
  private static final long CONNECT_AGAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
  private static final int MAX_ASKED = 64;

  /** Elections are over by then. */
  private static final long OTHERS_AFTER_NANOS = TimeUnit.SECONDS.toNanos(2);

  /** The rest of those that can be asked are for members that are heard of later. */
  private static final int MAX_OTHERS = 32;

  /** Opens connections. */
  public interface Connector {
    /** As {@link PeerClient#connect}. */
    CompletableFuture<PeerClient> connect(InetSocketAddress address, Runnable onClosed);
  }

  /** Hears who leads. */
  interface Found {
    void onLeader(PeerClient client, InetSocketAddress address, Leading leading);
  }

  /** A member and the connection to it. Guarded by the search. */
  private static final class Candidate {
    private final InetSocketAddress address;
    private PeerClient client;
    private boolean isConnecting;
    private boolean isAsked;
    private long askedNanos;
    private long connectedNanos = System.nanoTime() - CONNECT_AGAIN_NANOS;

    private Candidate(InetSocketAddress address) {
      this.address = address;
    }
  }

  private final Connector connector;
  private final Found found;
  private final Consumer<PeerClient> onClosed;
  private final Map<InetSocketAddress, Candidate> candidates = new LinkedHashMap<>();
  private volatile Supplier<? extends Collection<InetSocketAddress>> others = List::of;
  private int othersAdded;
  private boolean isLooking;
  private long lookingSinceNanos;
  private boolean isClosed;

  LeaderSearch(
      Connector connector,
      Collection<InetSocketAddress> members,
      Found found,
      Consumer<PeerClient> onClosed) {
    this.connector = connector;
    this.found = found;
    this.onClosed = onClosed;
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
    for (Candidate candidate : List.copyOf(candidates.values())) {
      if (candidate.client != null && !candidate.client.isOpen()) {
        // It was closed before it was known here.
        candidate.client = null;
      }
      if (candidate.client != null) {
        ask(candidate, candidate.client);
      } else if (!candidate.isConnecting && now - candidate.connectedNanos >= CONNECT_AGAIN_NANOS) {
        connect(candidate);
      }
    }
  }

  private void connect(Candidate candidate) {
    candidate.isConnecting = true;
    candidate.connectedNanos = System.nanoTime();
    var unused =
        connector
            .connect(candidate.address, () -> hungUp(candidate))
            .whenComplete((client, error) -> connected(candidate, client));
  }

  private synchronized void connected(Candidate candidate, PeerClient client) {
    candidate.isConnecting = false;
    if (client == null) {
      return;
    }
    if (isClosed) {
      client.close();
      return;
    }
    candidate.client = client;
    candidate.isAsked = false;
    ask(candidate, client);
  }

  private void hungUp(Candidate candidate) {
    PeerClient gone;
    synchronized (this) {
      gone = candidate.client;
      candidate.client = null;
      candidate.isAsked = false;
    }
    if (gone != null) {
      onClosed.accept(gone);
    }
  }

  private void ask(Candidate candidate, PeerClient client) {
    long now = System.nanoTime();
    if (candidate.isAsked && now - candidate.askedNanos < QUESTION_NANOS) {
      return;
    }
    candidate.isAsked = true;
    candidate.askedNanos = now;
    client.send(Protocol.SERVICE, Wire.of(Protocol.WHO_LEADS), new Answered(candidate, client));
  }

  private final class Answered implements ResponseHandler {
    private final Candidate candidate;
    private final PeerClient client;

    private Answered(Candidate candidate, PeerClient client) {
      this.candidate = candidate;
      this.client = client;
    }

    @Override
    public void onResponse(ByteBuf body) {
      try {
        answered();
        if (body.readByte() == Protocol.OK) {
          Leading leading = Leading.read(body);
          learn(leading);
          if (leading.isServing()) {
            found();
            found.onLeader(client, candidate.address, leading);
          }
        }
      } finally {
        body.release();
      }
    }

    @Override
    public void onFailure(TransportException cause) {
      answered();
    }

    private void answered() {
      synchronized (LeaderSearch.this) {
        candidate.isAsked = false;
      }
    }
  }

  synchronized void close() {
    isClosed = true;
    for (Candidate candidate : candidates.values()) {
      if (candidate.client != null) {
        candidate.client.close();
      }
    }
  }
}
