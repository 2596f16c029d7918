// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.raft.transport.TransportException.Reason;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class NodeConnectionsTest {
  private static final InetSocketAddress ANY =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
  private static final byte SERVICE = 9;
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
    ByteBuf answer = Unpooled.wrappedBuffer(new byte[] {7});
    if (isStuck) {
      late.add(() -> from.respond(requestId, answer));
    } else {
      from.respond(requestId, answer);
    }
  }

  private static CompletableFuture<byte[]> ask(
      NodeConnections connections, InetSocketAddress address, byte kind) {
    return connections.request(
        address,
        SERVICE,
        Unpooled.wrappedBuffer(new byte[] {kind}),
        body -> new byte[] {body.readByte()});
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
      CompletableFuture<byte[]> stuck = ask(connections, address, STUCK);
      Await.await(() -> late.size() == 1);
      assertThat(ask(connections, address, QUICK).get(5, TimeUnit.SECONDS)).containsExactly(7);
      assertThat(askedOn).hasSize(1);
      Thread.sleep(NodeConnections.SILENT_MILLIS + 100);
      assertThat(ask(connections, address, QUICK).get(5, TimeUnit.SECONDS)).containsExactly(7);
      assertThat(askedOn).hasSize(2);
      assertThat(stuck).isNotDone();
      late.get(0).run();
      assertThat(stuck.get(5, TimeUnit.SECONDS)).containsExactly(7);
    }
  }

  @Test
  void whenANodeCanNotBeReachedThenNothingWasSentAndALaterRequestConnects() throws Exception {
    InetSocketAddress address;
    try (PeerTransport gone = PeerTransport.builder("n0").listen(ANY)) {
      address = gone.address();
    }
    try (PeerTransport other = PeerTransport.builder("n1").listen(ANY);
        NodeConnections connections = new NodeConnections(other::connect)) {
      assertThat(ask(connections, address, QUICK))
          .failsWithin(5, TimeUnit.SECONDS)
          .withThrowableOfType(ExecutionException.class)
          .satisfies(thrown -> assertThat(reason(thrown)).isEqualTo(Reason.UNREACHABLE));
      assertThat(connections.isConnected(address)).isFalse();
      try (PeerTransport back =
          PeerTransport.builder("n0")
              .application((from, service, id, body) -> serve(from, id, body))
              .listen(address)) {
        assertThat(back.address()).isEqualTo(address);
        Await.await(() -> !ask(connections, address, QUICK).isCompletedExceptionally());
        Await.await(() -> connections.isConnected(address));
      }
    }
  }

  /** However the failure to connect comes, its reason is what callers tell operators. */
  @Test
  void whenANodeRunsABuildThatIsNotUnderstoodThenTheFailureSaysSo() throws Exception {
    int next = Formats.ofThisBuild().newest() + 1;
    Formats later = new Formats(next, next);
    try (PeerTransport node = PeerTransport.builder("n0").formats(later).listen(ANY);
        PeerTransport other = PeerTransport.builder("n1").listen(ANY)) {
      for (boolean isWrapped : List.of(false, true)) {
        NodeConnections.Connector connector =
            (address, onClosed) ->
                isWrapped
                    ? other.connect(address, onClosed).thenApply(client -> client)
                    : other.connect(address, onClosed);
        try (NodeConnections connections = new NodeConnections(connector)) {
          assertThat(ask(connections, node.address(), QUICK))
              .failsWithin(5, TimeUnit.SECONDS)
              .withThrowableOfType(ExecutionException.class)
              .satisfies(thrown -> assertThat(reason(thrown)).isEqualTo(Reason.OTHER_FORMAT));
        }
      }
    }
  }

  @Test
  void whenTheyAreClosedThenNothingIsSentAnyMore() throws Exception {
    try (PeerTransport node =
            PeerTransport.builder("n0")
                .application((from, service, id, body) -> serve(from, id, body))
                .listen(ANY);
        PeerTransport other = PeerTransport.builder("n1").listen(ANY)) {
      NodeConnections connections = new NodeConnections(other::connect);
      CompletableFuture<byte[]> waiting = ask(connections, node.address(), STUCK);
      Await.await(() -> late.size() == 1);
      connections.close();
      assertThat(waiting)
          .failsWithin(5, TimeUnit.SECONDS)
          .withThrowableOfType(ExecutionException.class)
          .satisfies(thrown -> assertThat(reason(thrown)).isEqualTo(Reason.CLOSED));
      assertThat(ask(connections, node.address(), QUICK))
          .failsWithin(5, TimeUnit.SECONDS)
          .withThrowableOfType(ExecutionException.class)
          .satisfies(thrown -> assertThat(reason(thrown)).isEqualTo(Reason.UNREACHABLE));
    }
  }

  private static Reason reason(Throwable thrown) {
    return ((TransportException) thrown.getCause()).reason();
  }
}
