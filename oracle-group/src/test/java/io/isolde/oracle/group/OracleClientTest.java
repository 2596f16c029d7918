// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.isolde.raft.GroupFailure;
import io.isolde.raft.transport.ApplicationHandler;
import io.isolde.raft.transport.EventLoops;
import io.isolde.raft.transport.PeerClient;
import io.isolde.raft.transport.PeerConnection;
import io.isolde.raft.transport.PeerTransport;
import io.isolde.raft.transport.TransportSecurity;
import io.isolde.raft.transport.TransportSettings;
import io.netty.buffer.ByteBuf;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Against members that do as they are told. */
class OracleClientTest {
  private final List<PeerTransport> transports = new ArrayList<>();
  private final EventLoops loops = EventLoops.forClients(1);

  /** On which nothing is answered any more, as if the network had failed. */
  private final Set<PeerConnection> deaf = ConcurrentHashMap.newKeySet();

  @AfterEach
  void close() {
    transports.forEach(PeerTransport::close);
    loops.close();
  }

  @Test
  void whenOverloadComesAfterASendThatMayHaveSucceededThenTheClientAsksOn() throws Exception {
    AtomicInteger asked = new AtomicInteger();
    PeerTransport member =
        member(
            1,
            request -> {
              switch (asked.incrementAndGet()) {
                case 1 -> request.connection().close();
                case 2, 3 -> request.overloaded();
                default -> request.answer(new Stable(42, 0));
              }
            });
    try (OracleClient client = client(member)) {
      assertThat(client.begin().get(10, TimeUnit.SECONDS)).isEqualTo(42);
      assertThat(asked).hasValue(4);
    }
  }

  @Test
  void whenOverloadIsTheFirstAnswerThenTheCallerIsTold() throws Exception {
    PeerTransport member = member(1, Request::overloaded);
    try (OracleClient client = client(member)) {
      assertThatThrownBy(() -> client.begin().get(10, TimeUnit.SECONDS))
          .hasRootCauseInstanceOf(GroupFailure.class)
          .hasMessageContaining("too much");
      assertThat(client.outstanding()).isZero();
    }
  }

  @Test
  void whenALeaderSendsRequestsAwayForAWhileThenItIsNotAskedWithoutPause() throws Exception {
    AtomicInteger asked = new AtomicInteger();
    long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(1_000);
    Leading leading = new Leading(true, 1, Optional.empty(), List.of());
    PeerTransport member =
        member(
            1,
            request -> {
              asked.incrementAndGet();
              if (System.nanoTime() < until) {
                request.notLeader(leading);
              } else {
                request.answer(new Stable(7, 0));
              }
            });
    try (OracleClient client = client(member)) {
      assertThat(client.begin().get(10, TimeUnit.SECONDS)).isEqualTo(7);
      assertThat(asked.get()).isLessThan(40);
    }
  }

  @Test
  void whenALeaderHangsThenTheOneOfALaterTermIsAsked() throws Exception {
    PeerTransport hanging = member(1, request -> {});
    try (OracleClient client = client(hanging)) {
      var begin = client.begin();
      Thread.sleep(300);
      assertThat(begin).isNotDone();
    }
    PeerTransport next = member(2, request -> request.answer(new Stable(9, 0)));
    try (OracleClient client = client(hanging, next)) {
      assertThat(client.begin().get(10, TimeUnit.SECONDS)).isEqualTo(9);
    }
  }

  @Test
  void whenNothingComesOnTheLeadersConnectionAnyMoreThenTheClientOpensAnother() throws Exception {
    Set<PeerConnection> askedOn = ConcurrentHashMap.newKeySet();
    PeerTransport member =
        member(
            1,
            request -> {
              askedOn.add(request.connection());
              request.answer(new Stable(5, 0));
            });
    try (OracleClient client = client(member)) {
      assertThat(client.begin().get(10, TimeUnit.SECONDS)).isEqualTo(5);
      deaf.addAll(askedOn);
      assertThat(client.begin().get(10, TimeUnit.SECONDS)).isEqualTo(5);
      assertThat(askedOn).hasSize(2);
    }
  }

  private interface StartTimestampBatcher {
    void onBegin(Request request);
  }

  private PeerTransport member(long term, StartTimestampBatcher starts) throws Exception {
    ApplicationHandler handler =
        new ApplicationHandler() {
          @Override
          public void onRequest(PeerConnection from, byte service, long requestId, ByteBuf body) {
            byte what = body.readByte();
            body.release();
            if (deaf.contains(from)) {
              return;
            }
            Request request = new Request(from, requestId);
            if (what == Protocol.WHO_LEADS) {
              Leading leading = new Leading(true, term, Optional.empty(), List.of());
              request.answer(leading.writeTo(Wire.of(Protocol.OK)));
            } else {
              starts.onBegin(request);
            }
          }
        };
    PeerTransport transport =
        PeerTransport.builder("member" + term)
            .application(handler)
            .listen(new InetSocketAddress("127.0.0." + term, 0));
    transports.add(transport);
    return transport;
  }

  private OracleClient client(PeerTransport... members) {
    return new OracleClient(
        OracleClientConfig.defaults(),
        (address, onClosed) ->
            PeerClient.connect(
                address, loops, TransportSettings.defaults(), TransportSecurity.none(), onClosed),
        Arrays.stream(members).map(PeerTransport::address).toList());
  }
}
