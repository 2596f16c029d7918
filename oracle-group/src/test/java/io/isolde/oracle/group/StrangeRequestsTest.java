// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.oracle.OracleConfig;
import io.isolde.oracle.replica.Command;
import io.isolde.raft.GroupFailure;
import io.isolde.raft.GroupFailure.Reason;
import io.isolde.raft.Peer;
import io.isolde.raft.transport.PeerClient;
import io.isolde.raft.transport.ResponseHandler;
import io.isolde.raft.transport.TransportException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StrangeRequestsTest {
  @TempDir Path directory;

  @Test
  void whenARequestIsGarbageThenItIsRefusedAndTheConnectionGoesOn() throws Exception {
    try (Members members = new Members(Members.quick(), directory, 1).startAll();
        PeerClient connection =
            members.connect(members.leader().address(), () -> {}).get(5, TimeUnit.SECONDS)) {
      Random random = new Random(11);
      for (int what = 0; what < 256; what++) {
        byte[] body = new byte[random.nextInt(40) + (what == 0 ? 0 : 1)];
        random.nextBytes(body);
        if (body.length > 0) {
          body[0] = (byte) what;
        }
        boolean isQuestion = what >= Protocol.WHO_LEADS && what <= Protocol.LOGGED;
        byte status = send(connection, body);
        if (!isQuestion) {
          assertThat(status).as("request %d", what).isEqualTo(Protocol.REFUSED);
        }
      }
      for (int i = 0; i < 500; i++) {
        byte[] body = new byte[2 + random.nextInt(80)];
        random.nextBytes(body);
        body[0] = Protocol.EXECUTE;
        body[1] = (byte) (1 + i % 8);
        send(connection, body);
      }

      assertThat(send(connection, new byte[] {Protocol.WHO_LEADS})).isEqualTo(Protocol.OK);
      assertThat(members.client().begin().get()).isPositive();
      assertThat(members.node(members.leader()).isServing()).isTrue();
    }
  }

  @Test
  void whenARequestWouldHurtTheReplicasThenItIsRefusedBeforeTheLog() throws Exception {
    try (Members members = new Members(Members.quick(), directory, 1).startAll()) {
      OracleClient client = members.client();
      long session = FencingTest.open(client, UUID.randomUUID());
      long start = client.begin().get();

      assertThat(refusal(client, new Command.Lead(OracleConfig.defaults()))).contains("leader");
      assertThat(refusal(client, new Command.FenceSession(session))).contains("leader");
      assertThat(refusal(client, new Command.DeclareInDoubt(start))).contains("leader");
      assertThat(refusal(client, new Command.IssueTimestamp(Long.MAX_VALUE))).contains("ahead");
      long future = start + 3_600_000_000L;
      assertThat(refusal(client, FencingTest.commit(session, 0, UUID.randomUUID(), future, 1)))
          .contains("No transaction was given the start timestamp");
      assertThat(refusal(client, FencingTest.commit(session, 0, UUID.randomUUID(), -2, 1)))
          .contains("No transaction was given the start timestamp");
      assertThat(refusal(client, FencingTest.large(session, 0, start, 400_000)))
          .contains("too large");

      assertThat(client.begin().get()).isGreaterThanOrEqualTo(start);
      assertThat(client.status().get().committed()).isZero();
    }
  }

  @Test
  void whenManyLargeCommitsComeAtOnceThenTheyShareEntriesThatTheLogTakes() throws Exception {
    OracleGroupConfig config = Members.quick();
    config = config.withRaft(config.raft().withAppends(1 << 16, 256, 8));
    try (Members members = new Members(config, directory, 1).startAll()) {
      OracleClient client = members.client();
      long session = FencingTest.open(client, UUID.randomUUID());
      long start = client.begin().get();
      List<CompletableFuture<?>> commits = new ArrayList<>();
      for (int i = 0; i < 60; i++) {
        commits.add(client.execute(FencingTest.large(session, i, start, 1_000)));
      }
      CompletableFuture.allOf(commits.toArray(CompletableFuture[]::new)).get(20, TimeUnit.SECONDS);
      assertThat(client.status().get().committed()).isEqualTo(60);
    }
  }

  @Test
  void whenANodeIsNoMemberThenItRefersToMembersOrIsPassedOver() throws Exception {
    try (Members members = new Members(Members.quick(), directory, 1).startAll()) {
      Peer stranger = members.startStranger();
      try (PeerClient connection =
          members.connect(stranger.address(), () -> {}).get(5, TimeUnit.SECONDS)) {
        assertThat(send(connection, new byte[] {Protocol.BEGIN})).isEqualTo(Protocol.NOT_LEADER);
        assertThat(send(connection, new byte[] {Protocol.STATUS})).isEqualTo(Protocol.NOT_LEADER);
      }
      // It knows the initial members, and so leads to them.
      assertThat(members.client(20_000, List.of(stranger)).begin().get()).isPositive();
    }
  }

  private static byte send(PeerClient connection, byte[] body) throws Exception {
    CompletableFuture<Byte> status = new CompletableFuture<>();
    connection.send(
        Protocol.SERVICE,
        Unpooled.wrappedBuffer(body),
        new ResponseHandler() {
          @Override
          public void onResponse(ByteBuf response) {
            status.complete(response.readByte());
            response.release();
          }

          @Override
          public void onFailure(TransportException cause) {
            status.completeExceptionally(cause);
          }
        });
    return status.get(10, TimeUnit.SECONDS);
  }

  private static String refusal(OracleClient client, Command command) throws Exception {
    try {
      return "It was not refused: " + client.execute(command).get();
    } catch (ExecutionException e) {
      GroupFailure cause = (GroupFailure) e.getCause();
      assertThat(cause.reason()).isEqualTo(Reason.REFUSED);
      return cause.getMessage();
    }
  }
}
