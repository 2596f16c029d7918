// SPDX-License-Identifier: Apache-2.0
package org.apache.cassandra.transport;

import io.isolde.answer.Answers;
import io.isolde.answer.StartThreads;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.apache.cassandra.concurrent.ScheduledExecutors;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.metrics.ClientMetrics;
import org.apache.cassandra.transport.ClientResourceLimits.Overload;
import org.apache.cassandra.transport.messages.ErrorMessage;
import org.apache.cassandra.transport.messages.ResultMessage;
import org.apache.cassandra.utils.JVMStabilityInspector;
import org.apache.cassandra.utils.MonotonicClock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A dispatcher by which some requests are answered after their handler has returned: no thread
 * waits for the answer. A few threads start such requests; they sleep when there is nothing to do,
 * where Cassandra's own look for work again and again. All other requests go Cassandra's way.
 *
 * <p>It is in this package because {@link Flusher} and {@link FlushItemConverter} are the package's
 * own.
 */
public final class LaterDispatcher extends Dispatcher {
  private static final Logger log = LoggerFactory.getLogger(LaterDispatcher.class);
  private static final int MIN_THREADS = 2;

  /** Cassandra has as many requests under way as it has threads. Those here hold none. */
  private static final int UNDER_WAY_PER_THREAD = 4;

  /** The request that this thread is handling, if it may be answered later. */
  private static final ThreadLocal<Pending> HANDLING = new ThreadLocal<>();

  private final Predicate<Message.Request> startsOnly;
  private final Map<EventLoop, Flusher> flushers = new ConcurrentHashMap<>();

  /** Dispatched here and not answered. */
  private final AtomicInteger unanswered = new AtomicInteger();

  private final StartThreads starters =
      new StartThreads(
          Math.max(MIN_THREADS, Runtime.getRuntime().availableProcessors()),
          DatabaseDescriptor.getNativeTransportMaxThreads(),
          UNDER_WAY_PER_THREAD * DatabaseDescriptor.getNativeTransportMaxThreads(),
          ScheduledExecutors.scheduledFastTasks);

  /**
   * A dispatcher for one or more servers.
   *
   * @param startsOnly which requests only start what is answered later, so that a few threads do;
   *     called on an event loop, so it must not block
   */
  public LaterDispatcher(Predicate<Message.Request> startsOnly) {
    super(DatabaseDescriptor.useNativeTransportLegacyFlusher());
    this.startsOnly = startsOnly;
  }

  /**
   * Has the request that this thread is handling be answered later.
   *
   * @param isLong whether that may be long after: then others need not wait for it
   * @return what its handler is to return now; null if the answer must be there by then
   */
  public static ResultMessage defer(
      CompletableFuture<? extends ResultMessage> answer, boolean isLong) {
    Pending pending = HANDLING.get();
    if (pending == null) {
      return null;
    }
    pending.later = answer;
    pending.isLong = isLong;
    return new ResultMessage.Void();
  }

  /** Whether the request that this thread is handling may be answered later. */
  public static boolean mayDefer() {
    return HANDLING.get() != null;
  }

  @Override
  public void dispatch(
      Channel channel,
      Message.Request request,
      FlushItemConverter converter,
      Overload backpressure) {
    boolean isOurs =
        request.connection().getTracker().isRunning()
            && !request.isTracingRequested()
            && startsOnly.test(request);
    if (!isOurs) {
      super.dispatch(channel, request, converter, backpressure);
      return;
    }
    unanswered.incrementAndGet();
    starters.execute(new Pending(channel, request, converter, backpressure));
    ClientMetrics.instance.markRequestDispatched();
  }

  /** A request that is answered once, whatever happens. */
  private final class Pending implements Runnable {
    private final Channel channel;
    private final Message.Request request;
    private final FlushItemConverter converter;
    private final Overload backpressure;

    /** Null if the handler's answer is the answer. */
    private CompletableFuture<? extends ResultMessage> later;

    private boolean isLong;

    private final AtomicBoolean hasLeft = new AtomicBoolean();

    private Pending(
        Channel channel,
        Message.Request request,
        FlushItemConverter converter,
        Overload backpressure) {
      this.channel = channel;
      this.request = request;
      this.converter = converter;
      this.backpressure = backpressure;
    }

    @Override
    public void run() {
      try {
        Message.Response now = handle();
        if (later == null || now instanceof ErrorMessage) {
          send(() -> now);
          return;
        }
        if (isLong) {
          leave();
        }
        List<String> warnings = now.getWarnings();
        var unused =
            later.whenComplete(
                (answer, failure) -> send(() -> completed(warnings, answer, failure)));
      } catch (RuntimeException | Error e) {
        send(() -> completed(null, null, e));
      }
    }

    private Message.Response handle() {
      HANDLING.set(this);
      try {
        long startedNanos = MonotonicClock.Global.preciseTime.now();
        RequestTime time = new RequestTime(request.createdAtNanos, startedNanos);
        return processRequest(channel, request, backpressure, time);
      } finally {
        HANDLING.remove();
      }
    }

    private Message.Response completed(
        List<String> warnings, ResultMessage answer, Throwable failure) {
      Message.Response response = failure == null ? answer : error(failure);
      response.setWarnings(warnings);
      response.attach(request.connection());
      return response;
    }

    private ErrorMessage error(Throwable failure) {
      Throwable cause = Answers.cause(failure);
      JVMStabilityInspector.inspectThrowable(cause);
      return ErrorMessage.fromException(
          cause, ExceptionHandlers.getUnexpectedExceptionHandler(channel, true));
    }

    private void send(Supplier<Message.Response> answer) {
      try {
        Message.Response response = answer.get();
        // Cassandra leaves it out if the request is too old: another one would get its answer.
        response.setStreamId(request.getStreamId());
        Flusher flusher = flushers.computeIfAbsent(channel.eventLoop(), LaterDispatcher::flusher);
        flusher.enqueue(converter.toFlushItem(channel, request, response));
        flusher.start();
      } catch (RuntimeException | Error e) {
        log.error("An answer could not be sent; its client waits until its time-out", e);
      } finally {
        leave();
      }
    }

    /** Others may take its place, once. */
    private void leave() {
      if (hasLeft.compareAndSet(false, true)) {
        unanswered.decrementAndGet();
        starters.answered();
      }
    }
  }

  private static Flusher flusher(EventLoop loop) {
    return DatabaseDescriptor.useNativeTransportLegacyFlusher()
        ? Flusher.legacy(loop)
        : Flusher.immediate(loop);
  }

  /** How many requests have come here and are not answered yet. */
  public int unanswered() {
    return unanswered.get();
  }

  /** A node that drains waits until its clients have their answers. */
  @Override
  public boolean isDone() {
    return unanswered.get() == 0 && super.isDone();
  }
}
