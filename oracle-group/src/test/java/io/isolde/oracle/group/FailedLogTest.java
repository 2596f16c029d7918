// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.isolde.oracle.replica.Answer;
import io.isolde.oracle.replica.Command;
import io.isolde.raft.Peer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The log of a member is damaged, its disk is full, or all of them are deleted. */
class FailedLogTest {
  private static final int COMMANDS = 30;

  @TempDir Path directory;

  @Test
  void whenTheLastEntryIsTornThenTheMemberStartsAgainAndServes() throws Exception {
    try (Members members = new Members(Members.quick(), directory, 3).startAll()) {
      OracleClient client = members.client();
      long last = issue(client);
      Peer victim = members.followers().get(0);
      members.stop(victim);
      change(members, victim, FailedLogTest::zeroLastNine);

      members.start(victim);

      Members.await("it is a member", () -> members.node(victim).status().isPresent());
      lead(members, client, victim);
      assertThat(members.node(victim).problem()).isEmpty();
      assertThat(issue(client)).isGreaterThan(last);
    }
  }

  @Test
  void whenTheLogIsDamagedThenTheMemberSaysSoAndIsRemovedAndAddedWithoutARestart()
      throws Exception {
    try (Members members = new Members(Members.quick(), directory, 3).startAll()) {
      OracleClient client = members.client();
      long last = issue(client);
      Peer victim = members.followers().get(0);
      members.stop(victim);
      change(members, victim, FailedLogTest::flipEightInTheMiddle);

      members.start(victim);

      Members.await("it says so", () -> members.node(victim).problem().isPresent());
      assertThat(members.node(victim).problem().orElseThrow()).contains("is damaged: entry ");
      assertThat(members.node(victim).status()).isEmpty();
      client.change(new MemberChange(MemberChange.Kind.REMOVE, victim)).get();
      client.change(new MemberChange(MemberChange.Kind.ADD, victim)).get();
      Members.await("it is a member", () -> members.node(victim).status().isPresent());
      lead(members, client, victim);
      Members.await("all is well", () -> members.node(victim).problem().isEmpty());
      assertThat(issue(client)).isGreaterThan(last);
    }
  }

  @Test
  void whenADiskWasFullThenItsMemberComesBackWhenThereIsSpace() throws Exception {
    Members members = new Members(Members.quick(), directory, 3);
    Peer victim = members.initialMembers().get(1);
    try (SmallDisk disk = new SmallDisk(members.directoryOf(victim));
        members) {
      members.startAll();
      OracleClient client = members.client();
      CoordinatorSession session = members.session();
      lead(members, client, victim);
      long last = issue(client);

      disk.fill();

      // A change of leaders begins a file, and a file needs space.
      client
          .change(new MemberChange(MemberChange.Kind.LEAD, members.initialMembers().get(0)))
          .exceptionally(failure -> null)
          .get();
      Members.await(
          "it says so",
          () -> {
            issueQuietly(client);
            return members.node(victim).problem().isPresent();
          });
      assertThat(issue(client)).isGreaterThan(last);
      assertThat(members.node(victim).status()).isEmpty();

      disk.free();

      Members.await("it is a member", () -> members.node(victim).status().isPresent());
      Members.await("all is well", () -> members.node(victim).problem().isEmpty());
      members.stop(
          members.followers().stream()
              .filter(one -> !one.equals(victim))
              .findFirst()
              .orElseThrow());
      assertThat(issue(client)).isGreaterThan(last);
      Members.await("the session goes on", session::isOpen);
      assertThat(session.begin().get()).isGreaterThan(last);
    }
  }

  @Test
  void whenAllLogsAreDeletedThenNothingIsFoundedUntilTheLossIsAccepted() throws Exception {
    try (Members members = new Members(Members.quick(), directory, 3).startAll()) {
      long last = issue(members.client());
      members.stopAll();
      for (Peer peer : members.initialMembers()) {
        delete(members.directoryOf(peer));
      }

      for (Peer peer : members.initialMembers()) {
        members.start(peer);
      }

      for (Peer peer : members.initialMembers()) {
        Members.await("it says so", () -> members.node(peer).problem().isPresent());
        assertThat(members.node(peer).problem().orElseThrow()).contains("ACCEPT LOSS");
      }
      members.node(members.initialMembers().get(0)).acceptLoss();
      members.node(members.initialMembers().get(1)).acceptLoss();
      Thread.sleep(1_500); // Some rounds of asking one another.
      for (Peer peer : members.initialMembers()) {
        assertThat(members.node(peer).status()).isEmpty();
      }
      members.node(members.initialMembers().get(2)).acceptLoss();
      Members.await("somebody serves", () -> members.node(members.leader()).isServing());
      assertThat(issue(members.client())).isGreaterThan(last);
      assertThatThrownBy(() -> members.node(members.leader()).acceptLoss())
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("has a log of the oracle");
    }
  }

  /** One that has just started may not be ready to take over. */
  private static void lead(Members members, OracleClient client, Peer peer) {
    Members.await(
        "it serves",
        () -> {
          client
              .change(new MemberChange(MemberChange.Kind.LEAD, peer))
              .exceptionally(notYet -> null)
              .join();
          return members.node(peer).isServing();
        });
  }

  private static long issue(OracleClient client) throws Exception {
    long last = 0;
    for (int i = 0; i < COMMANDS; i++) {
      last =
          ((Answer.Issued) client.execute(new Command.IssueTimestamp(0)).get()).timestampMicros();
    }
    return last;
  }

  private static void issueQuietly(OracleClient client) {
    client.execute(new Command.IssueTimestamp(0)).exceptionally(failure -> null).join();
  }

  private static byte[] zeroLastNine(byte[] bytes) {
    int end = used(bytes);
    Arrays.fill(bytes, end - 9, end, (byte) 0);
    return bytes;
  }

  private static byte[] flipEightInTheMiddle(byte[] bytes) {
    int middle = used(bytes) / 2;
    for (int i = middle; i < middle + 8; i++) {
      bytes[i] ^= 0x5a;
    }
    return bytes;
  }

  private static int used(byte[] bytes) {
    int end = bytes.length;
    while (bytes[end - 1] == 0) {
      end--;
    }
    return end;
  }

  private static void change(Members members, Peer peer, UnaryOperator<byte[]> how)
      throws IOException {
    try (var files = Files.walk(members.directoryOf(peer))) {
      Path open =
          files
              .filter(file -> file.getFileName().toString().startsWith("log_inprogress_"))
              .findFirst()
              .orElseThrow();
      Files.write(open, how.apply(Files.readAllBytes(open)));
    }
  }

  private static void delete(Path tree) throws IOException {
    List<Path> all;
    try (var files = Files.walk(tree)) {
      all = files.sorted(Comparator.reverseOrder()).toList();
    }
    for (Path file : all) {
      Files.delete(file);
    }
  }
}
