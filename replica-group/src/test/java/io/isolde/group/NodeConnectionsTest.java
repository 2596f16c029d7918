// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.raft.PeerConnection;
import io.isolde.raft.PeerTransport;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class NodeConnectionsTest {
  private static final InetSocketAddress ANY =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
  private static final byte STUCK = 1;
  private static final byte QUICK = 2;

  /** Each connection on which it was asked. */
  private final Set<PeerConnection> askedOn = ConcurrentHashMap.newKeySet();

  private final List<Runnable> late = new CopyOnWriteArrayList<>();

  /** Some are not answered for a long time, as if the network had failed. */
  private void serve(PeerConnection from, long requestId, ByteBuf body) {
    boolean isStuck = body.readByte() == STUCK;
    body.release();
    askedOn.add(from);
    ByteBuf answer = Unpooled.wrappedBuffer(new byte[] {Protocol.OK, 7});
    if (isStuck) {
      late.add(() -> from.respond(requestId, answer));
    } else {
      from.respond(requestId, answer);
    }
  }

  private static ByteBuf message(byte kind) {
    return Unpooled.wrappedBuffer(new byte[] {kind});
  }

  @Test
  void whenNothingComesAnyMoreThenOthersGetAConnectionOfTheirOwnAndWhoWaitsMayGoOnWaiting()
      throws Exception {
    try (PeerTransport node =
            PeerTransport.builder("n0")
                .application((from, service, id, body) -> serve(from, id, body))
                .listen(ANY);
        PeerTransport other = PeerTransport.builder("n1").listen(ANY);
        NodeConnections connections = new NodeConnections(other::connect)) {
      InetSocketAddress address = node.address();
      CompletableFuture<byte[]> stuck = connections.request(address, message(STUCK));
      GroupNodes.await(() -> late.size() == 1);
      assertThat(connections.request(address, message(QUICK)).get(5, TimeUnit.SECONDS))
          .containsExactly(7);
      assertThat(askedOn).hasSize(1);
      Thread.sleep(NodeConnections.SILENT_MILLIS + 100);
      assertThat(connections.request(address, message(QUICK)).get(5, TimeUnit.SECONDS))
          .containsExactly(7);
      assertThat(askedOn).hasSize(2);
      assertThat(stuck).isNotDone();
      late.get(0).run();
      assertThat(stuck.get(5, TimeUnit.SECONDS)).containsExactly(7);
    }
  }
}
