// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.isolde.notification.ClientMessage;
import io.isolde.notification.ServerMessage;
import java.net.URI;
import java.net.http.WebSocket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** One connection to a node: messages in order, until it is closed or silent for too long. */
final class PushSocket implements WebSocket.Listener {
  private static final String PATH = "/changes";

  /** A node sends a ping each ten seconds. */
  private static final long MAX_SILENCE_NANOS = 25_000_000_000L;

  /** For a node that reads nothing any more. */
  private static final long MAX_CLOSE_SECONDS = 5;

  /** For log-ins, too. A node that accepts connections may hang. */
  private static final Duration HANDSHAKE_TIMEOUT = Duration.ofSeconds(10);

  private static final ObjectMapper JSON =
      new ObjectMapper()
          .configure(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES, false)
          .setSerializationInclusion(JsonInclude.Include.NON_NULL);

  private final Consumer<ServerMessage> messages;
  private final Runnable closed;
  private final StringBuilder text = new StringBuilder();
  private volatile long heardNanos = System.nanoTime();
  private volatile WebSocket socket;

  /** One message must be out before the next is sent; guarded by this. */
  private CompletableFuture<?> lastSend = CompletableFuture.completedFuture(null);

  private PushSocket(Consumer<ServerMessage> messages, Runnable closed) {
    this.messages = messages;
    this.closed = closed;
  }

  /**
   * Opens a connection.
   *
   * @param messages hears what the node sends, one call after the other
   * @param closed is run when an open connection ends, whoever ends it; perhaps twice
   */
  static CompletionStage<PushSocket> open(
      PushOptions options,
      PushNodes.Place place,
      Consumer<ServerMessage> messages,
      Runnable closed) {
    PushSocket made = new PushSocket(messages, closed);
    WebSocket.Builder builder =
        options.http().newWebSocketBuilder().connectTimeout(HANDSHAKE_TIMEOUT);
    options.authorization().ifPresent(header -> builder.header("Authorization", header));
    boolean isTls = place.isTls() || options.isTlsWanted();
    URI uri = URI.create((isTls ? "wss://" : "ws://") + place.address() + PATH);
    return builder
        .buildAsync(uri, made)
        .thenApply(
            socket -> {
              made.socket = socket;
              return made;
            });
  }

  synchronized void send(ClientMessage message) {
    String json;
    try {
      json = JSON.writeValueAsString(message);
    } catch (JsonProcessingException e) {
      throw new AssertionError("a record of plain values", e);
    }
    lastSend = lastSend.thenCompose(before -> socket.sendText(json, true));
    var unused =
        lastSend.exceptionallyAsync( // The session must not hear of it before it has returned.
            error -> {
              abort();
              return null;
            });
  }

  /** Closes it, after what was sent, unless that takes too long. */
  synchronized void close() {
    var unused =
        lastSend
            .thenCompose(before -> socket.sendClose(WebSocket.NORMAL_CLOSURE, ""))
            .orTimeout(MAX_CLOSE_SECONDS, TimeUnit.SECONDS)
            .whenCompleteAsync((done, error) -> abort());
  }

  private void abort() {
    socket.abort();
    closed.run();
  }

  /** Gives it up if nothing has come for long. */
  void abortIfSilent() {
    if (System.nanoTime() - heardNanos > MAX_SILENCE_NANOS) {
      abort();
    }
  }

  @Override
  public CompletionStage<?> onText(WebSocket from, CharSequence data, boolean isLast) {
    heardNanos = System.nanoTime();
    text.append(data);
    if (isLast) {
      String whole = text.toString();
      text.setLength(0);
      try {
        messages.accept(JSON.readValue(whole, ServerMessage.class));
      } catch (JsonProcessingException e) {
        from.abort();
        closed.run();
        return null;
      }
    }
    from.request(1);
    return null;
  }

  /** The answer is sent by the socket itself. */
  @Override
  public CompletionStage<?> onPing(WebSocket from, ByteBuffer message) {
    heardNanos = System.nanoTime();
    from.request(1);
    return null;
  }

  @Override
  public CompletionStage<?> onClose(WebSocket from, int status, String reason) {
    closed.run();
    return null;
  }

  @Override
  public void onError(WebSocket from, Throwable error) {
    closed.run();
  }
}
