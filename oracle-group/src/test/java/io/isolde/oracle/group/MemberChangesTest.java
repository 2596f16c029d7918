// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.raft.GroupFailure;
import io.isolde.raft.GroupFailure.Reason;
import io.isolde.raft.Peer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MemberChangesTest {
  @TempDir Path directory;

  @Test
  void whenMembersComeAndGoUnderLoadThenNobodyFails() throws Exception {
    try (Members members = new Members(Members.quick(), directory, 3).startAll()) {
      CoordinatorSession session = members.session();
      OracleClient client = members.client();
      Peer stranger = members.startStranger();
      Load load = new Load();
      load.start(session, 100);

      client.change(new MemberChange(MemberChange.Kind.ADD, stranger)).get();

      assertThat(ids(client)).hasSize(4).contains(stranger.id());
      assertThat(refusal(client, MemberChange.Kind.ADD, stranger)).contains("member already");
      assertThat(refusal(client, MemberChange.Kind.REMOVE, members.leader()))
          .contains("let another one lead first");
      Peer gone = members.followers().get(0);
      load.start(session, 100);

      client.change(new MemberChange(MemberChange.Kind.REMOVE, gone)).get();

      assertThat(ids(client)).hasSize(3).doesNotContain(gone.id());
      Members.await("it is no member", () -> members.node(gone).status().isEmpty());
      assertThat(Files.exists(members.directoryOf(gone)) && !isEmpty(members.directoryOf(gone)))
          .isFalse();
      members.stop(gone);
      members.start(gone);
      load.start(session, 100);
      load.await();
      load.check();
      Thread.sleep(1_000);
      assertThat(members.node(gone).status()).isEmpty();
      assertThat(isEmpty(members.directoryOf(gone))).isTrue();
    }
  }

  @Test
  void whenAMembersLogIsLostThenItStaysOutUntilItIsRemovedAndAddedAgain() throws Exception {
    try (Members members = new Members(Members.quick(), directory, 3).startAll()) {
      OracleClient client = members.client();
      CoordinatorSession session = members.session();
      Peer victim = members.followers().get(0);
      members.stop(victim);
      delete(members.directoryOf(victim));

      members.start(victim);

      Thread.sleep(1_500);
      assertThat(members.node(victim).status()).isEmpty();
      assertThat(refusal(client, MemberChange.Kind.REMOVE, Members.peer(99)))
          .contains("is not a member");
      client.change(new MemberChange(MemberChange.Kind.REMOVE, victim)).get();
      client.change(new MemberChange(MemberChange.Kind.ADD, victim)).get();
      Members.await("it is a member", () -> members.node(victim).status().isPresent());
      long start = session.begin().get();
      client.change(new MemberChange(MemberChange.Kind.LEAD, victim)).get();
      Members.await("it serves", () -> members.node(victim).isServing());
      assertThat(session.begin().get()).isGreaterThanOrEqualTo(start);
    }
  }

  @Test
  void whenAStrangerTellsAMemberToLeaveThenItKeepsItsLog() throws Exception {
    try (Members members = new Members(Members.quick(), directory, 3).startAll()) {
      Peer follower = members.followers().get(0);
      OracleClient client = members.client(20_000, List.of(follower));

      assertThat(refusal(client, MemberChange.Kind.LEAVE, follower)).contains("keeps its log");

      assertThat(members.initialMembers())
          .allMatch(peer -> members.node(peer).status().isPresent());
    }
  }

  @Test
  void whenTheOnlyMemberIsAskedThenItServesAndCannotBeRemoved() throws Exception {
    try (Members members = new Members(Members.quick(), directory, 1).startAll()) {
      OracleClient client = members.client();
      assertThat(client.begin().get()).isPositive();
      assertThat(refusal(client, MemberChange.Kind.REMOVE, members.leader()))
          .contains("is the only member");
    }
  }

  /** Seeds that are moved, say: the members that a node is configured with are all gone. */
  @Test
  void whenTheInitialMembersAreGoneThenOtherNodesTellWhoLeads() throws Exception {
    try (Members members = new Members(Members.quick(), directory, 1).startAll()) {
      Peer initial = members.initialMembers().get(0);
      Peer next = moveOracle(members, initial);
      Peer stranger = members.startStranger();
      OracleClient strangersOwn = members.client(20_000, List.of(initial));
      strangersOwn.alsoAsk(() -> List.of(next.address()));
      members.node(stranger).referTo(strangersOwn::members);
      members.stop(initial);

      assertThat(strangersOwn.begin().get()).isPositive();

      OracleClient client = members.client(20_000, List.of(initial));
      client.alsoAsk(() -> List.of(stranger.address()));
      assertThat(client.begin().get()).isPositive();
      assertThat(client.members()).contains(next);
    }
  }

  @Test
  void whenADamagedMemberKnowsOnlyItselfThenItAsksThoseThatItHasHeardOf() throws Exception {
    try (Members members = new Members(Members.quick(), directory, 1).startAll()) {
      Peer initial = members.initialMembers().get(0);
      Peer next = moveOracle(members, initial);
      OracleClient client = members.client(20_000, List.of(next));
      client.begin().get();
      members.stop(initial);
      forgetTheLogAndTheOtherMembers(members.directoryOf(initial));
      members.start(initial).referTo(client::members);
      Members.await("it has seen that", () -> members.node(initial).problem().isPresent());
      client.change(new MemberChange(MemberChange.Kind.REMOVE, initial)).get();

      client.change(new MemberChange(MemberChange.Kind.ADD, initial)).get();

      Members.await("it is well", () -> members.node(initial).problem().isEmpty());
      client.change(new MemberChange(MemberChange.Kind.LEAD, initial)).get();
      assertThat(members.leader()).isEqualTo(initial);
    }
  }

  /** Has another node join, and lead; returns that. A third one keeps the majority. */
  private static Peer moveOracle(Members members, Peer initial) throws Exception {
    OracleClient client = members.client();
    Peer next = members.startStranger();
    client.change(new MemberChange(MemberChange.Kind.ADD, next)).get();
    Peer third = members.startStranger();
    client.change(new MemberChange(MemberChange.Kind.ADD, third)).get();
    client.change(new MemberChange(MemberChange.Kind.LEAD, next)).get();
    Members.await("it leads", () -> members.node(next).isServing());
    assertThat(members.node(initial).isServing()).isFalse();
    return next;
  }

  /** What a member has that was damaged right after it joined. */
  private static void forgetTheLogAndTheOtherMembers(Path directory) throws IOException {
    try (var files = Files.walk(directory)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        String name = file.getFileName().toString();
        if (name.equals("raft-meta.conf")) {
          Files.delete(file);
        } else if (name.startsWith("log_")) {
          byte[] bytes = Files.readAllBytes(file);
          for (int i = 0; i < Math.min(64, bytes.length); i++) {
            bytes[i] ^= 0x55;
          }
          Files.write(file, bytes);
        }
      }
    }
  }

  private static String refusal(OracleClient client, MemberChange.Kind kind, Peer peer)
      throws InterruptedException {
    try {
      client.change(new MemberChange(kind, peer)).get();
      return "It was not refused.";
    } catch (ExecutionException e) {
      GroupFailure cause = (GroupFailure) e.getCause();
      assertThat(cause.reason()).isEqualTo(Reason.REFUSED);
      return cause.getMessage();
    }
  }

  private static List<String> ids(OracleClient client) throws Exception {
    return client.status().get().members().stream().map(Peer::id).toList();
  }

  private static boolean isEmpty(Path directory) throws IOException {
    try (var files = Files.list(directory)) {
      return files.findAny().isEmpty();
    }
  }

  private static void delete(Path directory) throws IOException {
    try (var files = Files.walk(directory)) {
      files
          .sorted(Comparator.reverseOrder())
          .forEach(
              file -> {
                try {
                  Files.delete(file);
                } catch (IOException e) {
                  throw new UncheckedIOException(e);
                }
              });
    }
  }
}
