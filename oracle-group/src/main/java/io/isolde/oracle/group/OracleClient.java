// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.isolde.oracle.group.OracleRequestException.Reason;
import io.isolde.oracle.replica.Answer;
import io.isolde.oracle.replica.AnswerCodec;
import io.isolde.oracle.replica.Bytes;
import io.isolde.oracle.replica.Command;
import io.isolde.oracle.replica.CommandCodec;
import io.isolde.raft.PeerClient;
import io.isolde.raft.ResponseHandler;
import io.isolde.raft.TransportException;
import io.netty.buffer.ByteBuf;
import java.net.InetSocketAddress;
import java.util.Collection;
import java.util.Comparator;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;

/**
 * Asks whoever leads the oracle. A request that gets no answer, because the leader is gone or no
 * longer leads, is sent to the next leader, until its time is over: all requests may be repeated.
 *
 * <p>Thread-safe. Futures are completed on event loops: what hangs on them must not block. They
 * fail with an {@link OracleRequestException}.
 */
public final class OracleClient implements AutoCloseable {
  private static final long TICK_MILLIS = 10;
  private static final int TICKS_PER_SWEEP = 5;

  /** Where the leader is. */
  private record Link(PeerClient client, InetSocketAddress address, long term) {}

  private final OracleClientConfig config;
  private final LeaderSearch search;
  private final Map<Long, Outstanding<?>> outstanding = new ConcurrentHashMap<>();
  private final AtomicInteger count = new AtomicInteger();
  private final AtomicLong ids = new AtomicLong();
  private final ScheduledExecutorService ticker =
      Executors.newSingleThreadScheduledExecutor(
          task -> {
            Thread thread = new Thread(task, "isolde-oracle-client");
            thread.setDaemon(true);
            return thread;
          });

  private volatile Link link;
  private volatile long lastAnswerNanos = System.nanoTime();
  private volatile boolean isClosed;
  private int ticks;

  /**
   * @param connector opens connections
   * @param members some of the members, or nodes that know them
   */
  public OracleClient(
      OracleClientConfig config,
      LeaderSearch.Connector connector,
      Collection<InetSocketAddress> members) {
    this.config = config;
    this.search = new LeaderSearch(connector, members, this::onLeader, this::onClosed);
    var unused = ticker.scheduleWithFixedDelay(this::tick, 0, TICK_MILLIS, TimeUnit.MILLISECONDS);
  }

  /** Asks for a start timestamp: at or above all that anybody was told to be committed by now. */
  public CompletableFuture<Long> begin() {
    return ask(Wire.of(Protocol.BEGIN), ByteBuf::readLong).answer();
  }

  /** Has a command carried out; the answer is durable. */
  public CompletableFuture<Answer> execute(Command command) {
    return ask(command).answer();
  }

  /** As {@link #execute}, for those who must know how often it was sent. */
  Outstanding<Answer> ask(Command command) {
    Bytes bytes = new Bytes(256);
    CommandCodec.encode(command, bytes);
    return ask(
        Wire.of(Protocol.EXECUTE).writeBytes(bytes.toArray()),
        result -> AnswerCodec.decode(Wire.rest(result)));
  }

  /**
   * Tells that a commit is applied.
   *
   * @return completes with what is stable, once that includes the commit
   */
  public CompletableFuture<Long> applied(long commitTimestamp) {
    return ask(Wire.of(Protocol.APPLIED, commitTimestamp), ByteBuf::readLong).answer();
  }

  /** Completes with what is stable, once that is at or above the timestamp. */
  public CompletableFuture<Long> awaitStable(long timestamp) {
    return ask(Wire.of(Protocol.AWAIT_STABLE, timestamp), ByteBuf::readLong).answer();
  }

  /** Renews the lease of a session; see {@link CoordinatorSession}. */
  public CompletableFuture<Renewed> renew(long session, long oldestStart) {
    ByteBuf body = Wire.of(Protocol.RENEW, session).writeLong(oldestStart);
    return ask(body, Renewed::read).answer();
  }

  /** How a transaction was decided; empty if it is not decided, or that is forgotten. */
  public CompletableFuture<Optional<Answer.Ended>> outcome(UUID transactionId) {
    ByteBuf body = Wire.of(Protocol.OUTCOME);
    Wire.write(body, transactionId);
    return ask(
            body,
            result ->
                result.readBoolean()
                    ? Optional.of((Answer.Ended) AnswerCodec.decode(Wire.rest(result)))
                    : Optional.<Answer.Ended>empty())
        .answer();
  }

  /** What the leader says of the group. */
  public CompletableFuture<OracleStatus> status() {
    return ask(Wire.of(Protocol.STATUS), OracleStatus::read).answer();
  }

  /** Has the leader change the members, or hand over. */
  public CompletableFuture<Void> change(MemberChange change) {
    return ask(change.writeTo(Wire.of(Protocol.CHANGE)), result -> (Void) null).answer();
  }

  /** Requests that have no answer yet. */
  public int outstanding() {
    return count.get();
  }

  /** Where the leader is, if that is known. */
  public Optional<InetSocketAddress> leader() {
    return Optional.ofNullable(link).map(Link::address);
  }

  private <T> Outstanding<T> ask(ByteBuf body, Function<ByteBuf, T> decode) {
    byte[] bytes = Wire.rest(body).array();
    body.release();
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(config.timeoutMillis());
    Outstanding<T> request = new Outstanding<>(ids.incrementAndGet(), bytes, deadline, decode);
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

  private void send(Outstanding<?> request, Link to) {
    to.client.send(Protocol.SERVICE, request.bodyToSend(), new Handler(request, to));
  }

  /** Whoever takes it out answers it. */
  private Optional<Outstanding<?>> end(Outstanding<?> request) {
    Outstanding<?> removed = outstanding.remove(request.id());
    if (removed != null) {
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
        lastAnswerNanos = System.nanoTime();
        onResponse(body.readByte(), body);
      } finally {
        body.release();
      }
    }

    private void onResponse(byte status, ByteBuf body) {
      switch (status) {
        case Protocol.OK -> end(request).ifPresent(r -> r.complete(body));
        case Protocol.NOT_LEADER -> onLost(from, Optional.of(Leading.read(body)));
        case Protocol.OVERLOADED ->
            end(request)
                .ifPresent(r -> r.fail(Reason.OVERLOADED, "The oracle has too much to do."));
        default -> {
          String why = Wire.text(body);
          end(request).ifPresent(r -> r.fail(Reason.REFUSED, why));
        }
      }
    }

    @Override
    public void onFailure(TransportException cause) {
      switch (cause.reason()) {
        case CLOSED -> onLost(from, Optional.empty());
        case BUSY, REMOTE_BUSY ->
            end(request).ifPresent(r -> r.fail(Reason.OVERLOADED, cause.getMessage()));
        case TOO_LARGE, REMOTE_ERROR ->
            end(request).ifPresent(r -> r.fail(Reason.REFUSED, cause.getMessage()));
      }
    }
  }

  private void onClosed(PeerClient client) {
    Link now = link;
    if (now != null && now.client == client) {
      onLost(now, Optional.empty());
    }
  }

  private synchronized void onLost(Link lost, Optional<Leading> hint) {
    hint.ifPresent(search::learn);
    if (lost.equals(link)) {
      link = null;
      search.look();
    }
  }

  /** Somebody says that it leads. */
  private void onLeader(PeerClient client, InetSocketAddress address, long term) {
    Link found = new Link(client, address, term);
    synchronized (this) {
      if (link != null && (link.term >= term || link.client == client)) {
        return;
      }
      link = found;
      lastAnswerNanos = System.nanoTime();
    }
    // In the order in which they were asked, as far as nobody asks meanwhile.
    outstanding.values().stream()
        .sorted(Comparator.comparingLong(Outstanding::id))
        .forEach(request -> send(request, found));
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
    } catch (RuntimeException e) {
      // The next tick tries again; a scheduled task that throws would be the last.
    }
  }

  private void sweep() {
    long now = System.nanoTime();
    for (Outstanding<?> request : outstanding.values()) {
      if (request.isOverdue(now)) {
        end(request)
            .ifPresent(
                r ->
                    r.fail(
                        Reason.TIMED_OUT,
                        "No leader of the oracle has answered within "
                            + config.timeoutMillis()
                            + " ms."));
      }
    }
  }

  /** It has been asked and says nothing: it may hang, while another has been elected. */
  private boolean isSuspicious() {
    long since = System.nanoTime() - TimeUnit.MILLISECONDS.toNanos(config.suspicionMillis());
    return lastAnswerNanos - since < 0
        && outstanding.values().stream().anyMatch(request -> request.isUnansweredSince(since));
  }

  @Override
  public void close() {
    isClosed = true;
    ticker.shutdownNow();
    link = null;
    search.close();
    for (Outstanding<?> request : outstanding.values()) {
      end(request).ifPresent(r -> r.fail(Reason.CLOSED, "The oracle's client is closed."));
    }
  }
}
