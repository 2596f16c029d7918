// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.PrintStream;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Requests of the application, and what bounds them. */
class PeerTransportTest {
  private final EventLoops loops = EventLoops.forClients(1);
  private final Echo echo = new Echo();

  @AfterEach
  void close() {
    loops.close();
  }

  private PeerTransport listen(TransportSettings settings) throws Exception {
    return PeerTransport.builder("n0").settings(settings).application(echo).listen(Echo.ANY);
  }

  private PeerClient connect(PeerTransport to) throws Exception {
    return Echo.connect(to, loops, TransportSettings.defaults(), TransportSecurity.none());
  }

  @Test
  void whenManyRequestsAreSentThenEachGetsItsOwnAnswer() throws Exception {
    try (PeerTransport server = listen(TransportSettings.defaults());
        PeerClient client = connect(server)) {
      List<CompletableFuture<String>> answers = new ArrayList<>();
      for (int i = 0; i < 10_000; i++) {
        answers.add(Echo.ask(client, "request " + i));
      }
      for (int i = 0; i < answers.size(); i++) {
        assertThat(answers.get(i).get(5, TimeUnit.SECONDS)).isEqualTo("request " + i);
      }
    }
    Await.await(() -> !echo.last.isOpen());
  }

  @Test
  void whenTheNodeClosesThenTheClientHearsOfIt() throws Exception {
    CountDownLatch closed = new CountDownLatch(1);
    try (PeerTransport server = listen(TransportSettings.defaults())) {
      PeerClient client =
          PeerClient.connect(
                  server.address(),
                  loops,
                  TransportSettings.defaults(),
                  TransportSecurity.none(),
                  closed::countDown)
              .get(5, TimeUnit.SECONDS);
      assertThat(client.isOpen()).isTrue();
    }
    assertThat(closed.await(5, TimeUnit.SECONDS)).isTrue();
  }

  /** Netty says so when a connection is taken from an event loop that it is not on. */
  @Test
  void whenPeersGreetAndAreGoneThenTheirConnectionsDisturbNoOther() throws Exception {
    PrintStream err = System.err;
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    System.setErr(new PrintStream(said, true, StandardCharsets.UTF_8));
    try (PeerTransport server = listen(TransportSettings.defaults())) {
      for (int i = 0; i < 300; i++) {
        try (Socket socket = new Socket()) {
          socket.connect(server.address());
          Frame greeting =
              Frame.greeting(Frame.PURPOSE_RAFT, new Greeting("n1", Formats.ofThisBuild()));
          ByteBuffer bytes = ByteBuffer.allocate(4 + 1 + 8 + greeting.content().readableBytes());
          bytes.putInt(bytes.capacity() - 4).put(Frame.GREETING).putLong(Frame.PURPOSE_RAFT);
          greeting.content().readBytes(bytes);
          greeting.release();
          socket.getOutputStream().write(bytes.array());
        }
      }
      try (PeerClient client = connect(server)) {
        assertThat(Echo.ask(client, "still there").get(5, TimeUnit.SECONDS))
            .isEqualTo("still there");
      }
    } finally {
      System.setErr(err);
    }
    assertThat(said.toString(StandardCharsets.UTF_8)).doesNotContain("deregistering");
  }

  @Test
  void whenAnAddressIsRefusedThenNothingIsRead() throws Exception {
    try (PeerTransport server =
        PeerTransport.builder("n0").accept(address -> false).application(echo).listen(Echo.ANY)) {
      assertThatThrownBy(() -> connect(server)).isNotNull();
      assertThat(echo.last).isNull();
    }
  }

  @Test
  void whenNothingIsAnsweredThenTheConnectionKnowsForHowLong() throws Exception {
    List<Runnable> answers = new CopyOnWriteArrayList<>();
    ApplicationHandler slow =
        (from, service, id, body) -> answers.add(() -> from.respond(id, body));
    try (PeerTransport server = PeerTransport.builder("n0").application(slow).listen(Echo.ANY);
        PeerClient client = connect(server)) {
      assertThat(client.unansweredMillis()).isZero();
      CompletableFuture<String> first = Echo.ask(client, "first");
      CompletableFuture<String> second = Echo.ask(client, "second");
      Await.await(() -> client.unansweredMillis() >= 100);
      Await.await(() -> answers.size() == 2);
      answers.get(0).run();
      assertThat(first.get(5, TimeUnit.SECONDS)).isEqualTo("first");
      Await.await(() -> client.unansweredMillis() >= 100); // The other one still waits.
      client.closeAfter(50);
      assertThatThrownBy(() -> second.get(5, TimeUnit.SECONDS))
          .hasCauseInstanceOf(TransportException.class);
      assertThat(client.isOpen()).isFalse();
    }
  }

  @Test
  void whenARequestIsTooLargeThenItIsNotSent() throws Exception {
    TransportSettings small = TransportSettings.defaults().withMaxFrameBytes(1024);
    try (PeerTransport server = listen(small);
        PeerClient client = Echo.connect(server, loops, small, TransportSecurity.none())) {
      assertThatThrownBy(
              () ->
                  Echo.ask(client, Unpooled.buffer(1025).writeZero(1025)).get(5, TimeUnit.SECONDS))
          .hasCauseInstanceOf(TransportException.class)
          .hasMessageContaining("maxFrameBytes=1024");
      assertThat(Echo.ask(client, "fits").get(5, TimeUnit.SECONDS)).isEqualTo("fits");
    }
  }

  @Test
  void whenAFrameIsTooLargeThenTheServerCloses() throws Exception {
    try (PeerTransport server = listen(TransportSettings.defaults().withMaxFrameBytes(1024));
        PeerClient client = connect(server)) {
      assertThatThrownBy(
              () ->
                  Echo.ask(client, Unpooled.buffer(9999).writeZero(9999)).get(5, TimeUnit.SECONDS))
          .hasCauseInstanceOf(TransportException.class);
      Await.await(() -> !client.isOpen());
    }
  }

  @Test
  void whenAStrangerSpeaksAnotherProtocolThenItIsClosed() throws Exception {
    try (PeerTransport server = listen(TransportSettings.defaults());
        Socket socket = new Socket(server.address().getAddress(), server.address().getPort())) {
      socket.setSoTimeout(5000);
      socket.getOutputStream().write("GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.UTF_8));
      InputStream in = socket.getInputStream();
      assertThat(in.read()).isEqualTo(-1);
    }
  }

  @Test
  void whenTooManyRequestsWaitThenTheNextIsRefusedAtOnce() throws Exception {
    List<Runnable> held = new ArrayList<>();
    ApplicationHandler holding =
        (PeerConnection from, byte service, long id, ByteBuf body) -> {
          synchronized (held) {
            held.add(() -> from.respond(id, body));
          }
        };
    TransportSettings two = TransportSettings.defaults().withConnectionBounds(1 << 20, 2);
    try (PeerTransport server =
            PeerTransport.builder("n0").settings(two).application(holding).listen(Echo.ANY);
        PeerClient polite = Echo.connect(server, loops, two, TransportSecurity.none());
        PeerClient rude = connect(server)) {
      for (PeerClient client : List.of(polite, rude)) {
        CompletableFuture<String> first = Echo.ask(client, "1");
        CompletableFuture<String> second = Echo.ask(client, "2");
        assertThatThrownBy(() -> Echo.ask(client, "3").get(5, TimeUnit.SECONDS))
            .hasCauseInstanceOf(TransportException.class);
        Await.await(
            () -> {
              synchronized (held) {
                return held.size() == 2;
              }
            });
        held.forEach(Runnable::run);
        held.clear();
        assertThat(first.get(5, TimeUnit.SECONDS) + second.get(5, TimeUnit.SECONDS))
            .isEqualTo("12");
      }
    }
  }

  @Test
  void whenAReaderIsSlowThenItIsCutOff() throws Exception {
    List<PeerConnection> connections = new ArrayList<>();
    ApplicationHandler pushing =
        (from, service, id, body) -> {
          body.release();
          synchronized (connections) {
            connections.add(from);
          }
        };
    TransportSettings tight = TransportSettings.defaults().withConnectionBounds(1 << 16, 100);
    try (PeerTransport server =
            PeerTransport.builder("n0").settings(tight).application(pushing).listen(Echo.ANY);
        Socket socket = new Socket(server.address().getAddress(), server.address().getPort())) {
      byte[] greeting = ByteBufUtil.getBytes(new Greeting("", Formats.ofThisBuild()).encode());
      socket.getOutputStream().write(frame(Frame.GREETING, greeting));
      socket.getOutputStream().write(frame(Frame.APPLICATION, new byte[] {7}));
      Await.await(
          () -> {
            synchronized (connections) {
              return !connections.isEmpty();
            }
          });
      PeerConnection connection = connections.get(0);
      for (int i = 0; i < 10_000 && connection.isOpen(); i++) {
        connection.respond(0, Unpooled.buffer(8192).writeZero(8192));
      }
      Await.await(() -> !connection.isOpen());
    }
  }

  private static byte[] frame(byte kind, byte[] body) {
    return ByteBuffer.allocate(13 + body.length)
        .putInt(9 + body.length)
        .put(kind)
        .putLong(0)
        .put(body)
        .array();
  }
}
