// SPDX-License-Identifier: Apache-2.0
package org.apache.cassandra.transport;

import io.isolde.answer.StartThreads;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
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

  /** A request whose handler is running. */
  private static final class Pending {
    private CompletableFuture<? extends ResultMessage> answer;
  }

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
   * @return what its handler is to return now; null if the answer must be there by then
   */
  public static ResultMessage defer(CompletableFuture<? extends ResultMessage> answer) {
    Pending pending = HANDLING.get();
    if (pending == null) {
      return null;
    }
    pending.answer = answer;
    return new ResultMessage.Void();
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
    starters.execute(() -> start(channel, request, converter, backpressure));
    ClientMetrics.instance.markRequestDispatched();
  }

  private void start(
      Channel channel,
      Message.Request request,
      FlushItemConverter converter,
      Overload backpressure) {
    Pending pending = new Pending();
    HANDLING.set(pending);
    Message.Response now;
    try {
      long startedNanos = MonotonicClock.Global.preciseTime.now();
      RequestTime time = new RequestTime(request.createdAtNanos, startedNanos);
      now = processRequest(channel, request, backpressure, time);
    } finally {
      HANDLING.remove();
    }
    if (pending.answer == null || now instanceof ErrorMessage) {
      flush(channel, request, converter, now);
      return;
    }
    List<String> warnings = now.getWarnings();
    var unused =
        pending.answer.whenComplete(
            (answer, failure) ->
                flush(
                    channel,
                    request,
                    converter,
                    completed(channel, request, warnings, answer, failure)));
  }

  private static Message.Response completed(
      Channel channel,
      Message.Request request,
      List<String> warnings,
      ResultMessage answer,
      Throwable failure) {
    Message.Response response = failure == null ? answer : error(channel, failure);
    response.setStreamId(request.getStreamId());
    response.setWarnings(warnings);
    response.attach(request.connection());
    return response;
  }

  private static ErrorMessage error(Channel channel, Throwable failure) {
    Throwable cause =
        failure instanceof CompletionException && failure.getCause() != null
            ? failure.getCause()
            : failure;
    JVMStabilityInspector.inspectThrowable(cause);
    return ErrorMessage.fromException(
        cause, ExceptionHandlers.getUnexpectedExceptionHandler(channel, true));
  }

  private void flush(
      Channel channel,
      Message.Request request,
      FlushItemConverter converter,
      Message.Response response) {
    try {
      EventLoop loop = channel.eventLoop();
      Flusher flusher = flushers.computeIfAbsent(loop, LaterDispatcher::flusher);
      flusher.enqueue(converter.toFlushItem(channel, request, response));
      flusher.start();
    } catch (RuntimeException e) {
      log.error("An answer could not be sent; its client waits until its time-out", e);
    } finally {
      unanswered.decrementAndGet();
      starters.answered();
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
