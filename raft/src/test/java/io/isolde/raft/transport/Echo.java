// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.transport;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** A service that answers with what it was sent, and a client's way to ask it. */
public final class Echo implements ApplicationHandler {
  static final InetSocketAddress ANY = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

  /** Who has asked last. */
  volatile PeerConnection last;

  @Override
  public void onRequest(PeerConnection from, byte service, long requestId, ByteBuf body) {
    last = from;
    from.respond(requestId, body);
  }

  public static PeerClient connect(
      PeerTransport to, EventLoops loops, TransportSettings settings, TransportSecurity security)
      throws Exception {
    return PeerClient.connect(to.address(), loops, settings, security, () -> {})
        .get(5, TimeUnit.SECONDS);
  }

  static CompletableFuture<String> ask(PeerClient client, String text) {
    return ask(client, Unpooled.wrappedBuffer(text.getBytes(StandardCharsets.UTF_8)));
  }

  static CompletableFuture<String> ask(PeerClient client, ByteBuf body) {
    CompletableFuture<String> answer = new CompletableFuture<>();
    client.send(
        (byte) 7,
        body,
        new ResponseHandler() {
          @Override
          public void onResponse(ByteBuf response) {
            answer.complete(response.toString(StandardCharsets.UTF_8));
            response.release();
          }

          @Override
          public void onFailure(TransportException cause) {
            answer.completeExceptionally(cause);
          }
        });
    return answer;
  }
}
