// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.pushing;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A client of the port that is not ours: a WebSocket and JSON. */
final class RawPush implements WebSocket.Listener {
  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int SOON_SECONDS = 30;

  private final BlockingQueue<JsonNode> messages = new LinkedBlockingQueue<>();
  private final CompletableFuture<Integer> closed = new CompletableFuture<>();
  private final StringBuilder text = new StringBuilder();
  private final boolean isReading;
  private WebSocket socket;

  private RawPush(boolean isReading) {
    this.isReading = isReading;
  }

  static RawPush open(String address, String user, String password) {
    return open(HTTP, "ws://" + address, user, password, true);
  }

  /** One that reads only on request. */
  static RawPush slow(String address, String user, String password) {
    return open(HTTP, "ws://" + address, user, password, false);
  }

  static RawPush open(
      HttpClient http, String address, String user, String password, boolean isReading) {
    String both =
        Base64.getEncoder()
            .encodeToString((user + ":" + password).getBytes(StandardCharsets.UTF_8));
    RawPush made = new RawPush(isReading);
    made.socket =
        http.newWebSocketBuilder()
            .header("Authorization", "Basic " + both)
            .buildAsync(URI.create(address + "/changes"), made)
            .join();
    return made;
  }

  /** The first line of the answer to a request that is not of a WebSocket. */
  static String answer(String address, String request, String headers) throws IOException {
    int colon = address.indexOf(':');
    int port = Integer.parseInt(address.substring(colon + 1));
    try (Socket socket = new Socket(address.substring(0, colon), port)) {
      socket.setSoTimeout(1_000 * SOON_SECONDS);
      socket
          .getOutputStream()
          .write((request + " HTTP/1.1\r\n" + headers + "\r\n").getBytes(StandardCharsets.UTF_8));
      return new BufferedReader(
              new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8))
          .readLine();
    }
  }

  void send(String json) {
    socket.sendText(json.replace('\'', '"'), true).join();
  }

  void read(long messages) {
    socket.request(messages);
  }

  /** The next message of some type. */
  JsonNode next(String type) throws InterruptedException {
    JsonNode message;
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SOON_SECONDS);
    do {
      message = messages.poll(end - System.nanoTime(), TimeUnit.NANOSECONDS);
      if (message == null) {
        throw new AssertionError("No message of type " + type + " comes.");
      }
    } while (!message.get("type").asText().equals(type));
    return message;
  }

  /** The status with which the node has closed it. */
  int closed() throws Exception {
    return closed.get(SOON_SECONDS, TimeUnit.SECONDS);
  }

  void close() {
    socket.abort();
  }

  @Override
  public void onOpen(WebSocket opened) {
    if (isReading) {
      opened.request(Long.MAX_VALUE);
    }
  }

  @Override
  public CompletionStage<?> onText(WebSocket from, CharSequence data, boolean isLast) {
    text.append(data);
    if (isLast) {
      try {
        messages.add(JSON.readTree(text.toString()));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      text.setLength(0);
    }
    return null;
  }

  @Override
  public CompletionStage<?> onClose(WebSocket from, int status, String reason) {
    closed.complete(status);
    return null;
  }
}
