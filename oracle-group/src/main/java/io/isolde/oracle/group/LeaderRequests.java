// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.isolde.raft.Daemons;
import io.isolde.raft.GroupFailure.Reason;
import io.isolde.raft.Peer;
import io.isolde.raft.transport.NodeConnections;
import io.isolde.raft.transport.PeerClient;
import io.isolde.raft.transport.ResponseHandler;
import io.isolde.raft.transport.TransportException;
import io.netty.buffer.ByteBuf;
import java.net.InetSocketAddress;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings requests to whoever leads the oracle. One that gets no answer, because the leader is gone
 * or no longer leads, is sent to the next leader, until its time is over: all requests may be
 * repeated. Thread-safe.
 */
final class LeaderRequests implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(LeaderRequests.class);
  private static final long TICK_MILLIS = 10;

  private static final int TICKS_PER_SWEEP = 5;

  /** A leader that sends requests away is not asked again at once, as while it hands over. */
  private static final long SENT_AWAY_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  /** Where the leader is; each time that one is found, another link. */
  private static final class Link {
    private final PeerClient client;
    private final InetSocketAddress address;
    private final long term;

    private Link(PeerClient client, InetSocketAddress address, long term) {
      this.client = client;
      this.address = address;
      this.term = term;
    }
  }

  private final OracleClientConfig config;
  private final LeaderSearch search;
  private final Map<Long, Outstanding<?>> outstanding = new ConcurrentHashMap<>();
  private final AtomicInteger count = new AtomicInteger();
  private final AtomicLong ids = new AtomicLong();
  private final ScheduledExecutorService ticker =
      Executors.newSingleThreadScheduledExecutor(Daemons.named("isolde-oracle-client"));

  /** Replaced, never changed. What comes late over an earlier one must not count against it. */
  private volatile Link link;

  /** Who sent requests away last, and when. Guarded by this. */
  private Link sentAwayBy;

  private long sentAwayNanos;
  private volatile Runnable onFound = () -> {};
  private volatile List<Peer> members = List.of();
  private volatile boolean isClosed;
  private int ticks;

  /**
   * @param connector opens connections
   * @param members some of the members, or nodes that know them
   */
  LeaderRequests(
      OracleClientConfig config,
      NodeConnections.Connector connector,
      Collection<InetSocketAddress> members) {
    this.config = config;
    this.search =
        new LeaderSearch(new NodeConnections(connector, this::onClosed), members, this::onLeader);
    var unused = ticker.scheduleWithFixedDelay(this::tick, 0, TICK_MILLIS, TimeUnit.MILLISECONDS);
  }

  /** Requests that have no answer yet. */
  int outstanding() {
    return count.get();
  }

  /**
   * What is to be done whenever another leader is found, after what has no answer was sent to it.
   *
   * @param action must not block
   */
  void onLeaderFound(Runnable action) {
    onFound = action;
  }

  /** The members, as the last leader that was found had them; empty if none was. */
  List<Peer> members() {
    return members;
  }

  /** As {@link LeaderSearch#alsoAsk}. */
  void alsoAsk(Supplier<? extends Collection<InetSocketAddress>> others) {
    search.alsoAsk(others);
  }

  /** Where the leader is, if that is known. */
  Optional<InetSocketAddress> leader() {
    return Optional.ofNullable(link).map(now -> now.address);
  }

  /**
   * Asks.
   *
   * @param decode makes the answer of its bytes
   */
  <T> Outstanding<T> ask(byte[] bytes, Function<ByteBuf, T> decode, long timeoutMillis) {
    Outstanding<T> request =
        new Outstanding<>(ids.incrementAndGet(), bytes, deadline(timeoutMillis), decode);
    if (count.incrementAndGet() > config.maxOutstanding()) {
      count.decrementAndGet();
      request.fail(Reason.OVERLOADED, "Too many requests to the oracle have no answer yet.");
      return request;
    }
    outstanding.put(request.id(), request);
    if (isClosed) {
      end(request).ifPresent(r -> r.fail(Reason.CLOSED, "The oracle's client is closed."));
      return request;
    }
    Link now = link;
    if (now != null) {
      send(request, now);
    }
    return request;
  }

  static long deadline(long timeoutMillis) {
    return System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMillis);
  }

  /** Not if it has ended meanwhile: it may have been told that nothing was done. */
  private void send(Outstanding<?> request, Link to) {
    request
        .bodyToSend()
        .ifPresent(body -> to.client.send(Protocol.SERVICE, body, new Handler(request, to)));
  }

  /** Whoever takes it out answers it. */
  private Optional<Outstanding<?>> end(Outstanding<?> request) {
    Outstanding<?> removed = outstanding.remove(request.id());
    if (removed != null) {
      removed.end();
      count.decrementAndGet();
    }
    return Optional.ofNullable(removed);
  }

  private final class Handler implements ResponseHandler {
    private final Outstanding<?> request;
    private final Link from;

    private Handler(Outstanding<?> request, Link from) {
      this.request = request;
      this.from = from;
    }

    @Override
    public void onResponse(ByteBuf body) {
      try {
        onResponse(body.readByte(), body);
      } finally {
        body.release();
      }
    }

    private void onResponse(byte status, ByteBuf body) {
      switch (status) {
        case Protocol.OK -> end(request).ifPresent(r -> r.complete(body));
        case Protocol.NOT_LEADER -> onLost(from, Optional.of(Leading.read(body)));
        case Protocol.OVERLOADED -> onOverload("The oracle has too much to do.");
        default -> onRefusal(Wire.text(body));
      }
    }

    @Override
    public void onFailure(TransportException cause) {
      switch (cause.reason()) {
        case CLOSED, UNREACHABLE, OTHER_FORMAT -> onLost(from, Optional.empty());
        case BUSY, REMOTE_BUSY -> onOverload(cause.getMessage());
        case TOO_LARGE, REMOTE_ERROR -> onRefusal(cause.getMessage());
      }
    }

    private void onRefusal(String why) {
      Reason reason = request.endIfSentOnce() ? Reason.REFUSED : Reason.TIMED_OUT_UNKNOWN;
      end(request).ifPresent(r -> r.fail(reason, why));
    }

    /** If it was sent before, it may have been carried out then: nobody may say that it wasn't. */
    private void onOverload(String message) {
      if (request.endIfSentOnce()) {
        end(request).ifPresent(r -> r.fail(Reason.OVERLOADED, message));
      } else {
        request.putOff();
      }
    }
  }

  private void onClosed(InetSocketAddress address) {
    Link now = link;
    if (now != null && now.address.equals(address) && !now.client.isOpen()) {
      onLost(now, Optional.empty());
    }
  }

  private synchronized void onLost(Link lost, Optional<Leading> hint) {
    hint.ifPresent(search::learn);
    if (lost == link) {
      link = null;
      if (hint.isPresent()) {
        sentAwayBy = lost;
        sentAwayNanos = System.nanoTime();
      }
      search.look();
    }
  }

  /** Somebody says that it leads. */
  private void onLeader(PeerClient client, InetSocketAddress address, Leading leading) {
    Link found = new Link(client, address, leading.term());
    synchronized (this) {
      if (isClosed || isKnown(found) || hasJustSentAway(found)) {
        return;
      }
      link = found;
      members = leading.members();
    }
    // In the order in which they were asked, as far as nobody asks meanwhile.
    outstanding.values().stream()
        .sorted(Comparator.comparingLong(Outstanding::id))
        .forEach(request -> send(request, found));
    onFound.run();
  }

  private boolean isKnown(Link found) {
    return link != null && link.term >= found.term;
  }

  private boolean hasJustSentAway(Link found) {
    return sentAwayBy != null
        && sentAwayBy.client == found.client
        && sentAwayBy.term == found.term
        && System.nanoTime() - sentAwayNanos < SENT_AWAY_NANOS;
  }

  private void tick() {
    try {
      boolean isTimeToSweep = ++ticks % TICKS_PER_SWEEP == 0;
      if (isTimeToSweep) {
        sweep();
      }
      // A leader that is slow only, as on an overloaded machine, is not made slower by questions.
      if (link == null || (isTimeToSweep && isSuspicious())) {
        search.look();
      }
    } catch (RuntimeException | Error e) {
      // A scheduled task that throws would be the last.
      log.error("A task of the oracle's client failed. The client goes on; please report this.", e);
    }
  }

  private void sweep() {
    long now = System.nanoTime();
    Link to = link;
    for (Outstanding<?> request : outstanding.values()) {
      if (request.isOverdue(now)) {
        end(request)
            .ifPresent(
                r ->
                    r.fail(
                        Reason.TIMED_OUT_UNKNOWN, "No leader of the oracle has answered in time."));
      } else if (to != null && request.takePutOff()) {
        send(request, to);
      }
    }
  }

  /**
   * Something has no answer for long: the leader may hang, or be cut off while another has been
   * elected. That it answers something else proves nothing, as some answers need no majority.
   */
  private boolean isSuspicious() {
    long since = System.nanoTime() - TimeUnit.MILLISECONDS.toNanos(config.suspicionMillis());
    return outstanding.values().stream().anyMatch(request -> request.isUnansweredSince(since));
  }

  @Override
  public void close() {
    synchronized (this) {
      isClosed = true;
      link = null;
    }
    ticker.shutdownNow();
    search.close();
    for (Outstanding<?> request : outstanding.values()) {
      end(request).ifPresent(r -> r.fail(Reason.CLOSED, "The oracle's client is closed."));
    }
  }
}
