// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A node's requests to itself. */
class LocalConnectionTest {
  private final Echo echo = new Echo();
  private final CountDownLatch closed = new CountDownLatch(1);

  private PeerTransport listen(ApplicationHandler application) throws Exception {
    return PeerTransport.builder("n0").application(application).listen(Echo.ANY);
  }

  private PeerClient connect(PeerTransport node) throws Exception {
    return node.connect(node.address(), closed::countDown).get(5, TimeUnit.SECONDS);
  }

  @Test
  void whenANodeAsksItselfThenEachRequestGetsItsOwnAnswer() throws Exception {
    try (PeerTransport node = listen(echo)) {
      PeerClient client = connect(node);
      List<CompletableFuture<String>> answers = new ArrayList<>();
      for (int i = 0; i < 1_000; i++) {
        answers.add(Echo.ask(client, "request " + i));
      }
      for (int i = 0; i < answers.size(); i++) {
        assertThat(answers.get(i).get(5, TimeUnit.SECONDS)).isEqualTo("request " + i);
      }
    }
  }

  @Test
  void whenARequestIsAnsweredAtOnceThenTheSenderIsNotCalledBackWhileItSends() throws Exception {
    try (PeerTransport node = listen(echo)) {
      PeerClient client = connect(node);
      CompletableFuture<Thread> answeredOn = new CompletableFuture<>();
      client.send(
          (byte) 1,
          Unpooled.EMPTY_BUFFER,
          new ResponseHandler() {
            @Override
            public void onResponse(ByteBuf body) {
              body.release();
              answeredOn.complete(Thread.currentThread());
            }

            @Override
            public void onFailure(TransportException cause) {
              answeredOn.completeExceptionally(cause);
            }
          });
      assertThat(answeredOn.get(5, TimeUnit.SECONDS)).isNotSameAs(Thread.currentThread());
    }
  }

  @Test
  void whenTheNodeClosesThenWhatIsUnansweredFailsAndTheClientHearsOfIt() throws Exception {
    ApplicationHandler silent = (from, service, requestId, body) -> body.release();
    CompletableFuture<String> answer;
    PeerClient client;
    try (PeerTransport node = listen(silent)) {
      client = connect(node);
      answer = Echo.ask(client, "are you there");
      assertThat(client.isOpen()).isTrue();
    }
    assertThatThrownBy(() -> answer.get(5, TimeUnit.SECONDS))
        .hasMessageContaining("The connection is closed");
    assertThat(closed.await(5, TimeUnit.SECONDS)).isTrue();
    assertThat(client.isOpen()).isFalse();
    assertThatThrownBy(() -> Echo.ask(client, "still").get(5, TimeUnit.SECONDS))
        .hasMessageContaining("The connection is closed");
  }

  @Test
  void whenTooManyRequestsAreUnansweredThenMoreAreRefused() throws Exception {
    ApplicationHandler silent = (from, service, requestId, body) -> body.release();
    try (PeerTransport node = listen(silent)) {
      PeerClient client = connect(node);
      for (int i = 0; i < TransportSettings.defaults().maxInFlight(); i++) {
        var unused = Echo.ask(client, "request");
      }
      assertThatThrownBy(() -> Echo.ask(client, "one more").get(5, TimeUnit.SECONDS))
          .hasMessageContaining("requests wait for an answer");
    }
  }
}
