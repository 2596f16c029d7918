// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.oracle.Conflict;
import io.isolde.oracle.Decision;
import io.isolde.oracle.Outcome;
import io.isolde.oracle.PendingCommit;
import io.isolde.oracle.replica.Answer;
import io.isolde.oracle.replica.Command;
import io.isolde.raft.Peer;
import io.isolde.raft.RaftSettings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.apache.ratis.util.MD5FileUtil;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RestartTest {
  private static final int ENTRIES_PER_SAVE = 10;

  @TempDir Path directory;

  private static OracleGroupConfig config(boolean isSaving) {
    OracleGroupConfig config = Members.quick().withLeaseMillis(60_000);
    config = config.withRaft(config.raft().withFsync(false));
    return isSaving ? config.withRaft(config.raft().withSnapshots(ENTRIES_PER_SAVE, true)) : config;
  }

  @Test
  void whenAllMembersRestartThenNothingIsForgotten() throws Exception {
    restart(false);
  }

  @Test
  void whenAllMembersRestartFromSavedStateThenNothingIsForgotten() throws Exception {
    restart(true);
  }

  private void restart(boolean isSaving) throws Exception {
    try (Members members = new Members(config(isSaving), directory, 3).startAll()) {
      OracleClient client = members.client();
      long session = FencingTest.open(client, UUID.randomUUID());
      UUID id = UUID.randomUUID();
      long start = client.begin().get();
      Command commit = FencingTest.commit(session, 0, id, start, 7);
      Answer.Decided decided = (Answer.Decided) client.execute(commit).get();
      long timestamp = ((Decision.Committed) decided.decision()).commitTimestamp();
      if (isSaving) {
        issue(client, 2 * ENTRIES_PER_SAVE);
        for (Peer peer : members.initialMembers()) {
          Members.await("it is saved", () -> !saved(members, peer).isEmpty());
        }
      }
      long newest = issue(client, 1);

      members.stopAll();
      members.startAll();

      assertThat(client.outcome(id).get())
          .contains(new Answer.Ended(new Outcome.Committed(timestamp)));
      assertThat(client.execute(commit).get()).isEqualTo(decided);
      assertThat(client.renew(session, start, List.of()).get().isOpen()).isTrue();
      Answer late =
          client.execute(FencingTest.commit(session, 1, UUID.randomUUID(), start, 7)).get();
      Conflict conflict = ((Decision.Aborted) ((Answer.Decided) late).decision()).conflict();
      assertThat(conflict.by()).isEqualTo(id);
      assertThat(client.begin().get()).isGreaterThanOrEqualTo(timestamp);
      assertThat(client.inDoubt().contains(timestamp)).isTrue();
      client.applied(timestamp).get();
      assertThat(client.begin().get()).isGreaterThan(newest);
      assertThat(client.inDoubt().contains(timestamp)).isFalse();
      assertThat(issue(client, 1)).isGreaterThan(newest);
    }
  }

  @Test
  void whenAMemberWasAwayForLongThenItGetsTheStateOfTheLeader() throws Exception {
    OracleGroupConfig config = config(true);
    config =
        config.withRaft(
            new RaftSettings(
                400,
                800,
                0.3,
                true,
                3000,
                100,
                false,
                1 << 16,
                1 << 14,
                16,
                8,
                ENTRIES_PER_SAVE,
                true,
                4096,
                1 << 20));
    try (Members members = new Members(config, directory, 3).startAll()) {
      OracleClient client = members.client();
      long session = FencingTest.open(client, UUID.randomUUID());
      Peer away = members.followers().get(0);
      members.stop(away);
      UUID id = UUID.randomUUID();
      long start = client.begin().get();
      long timestamp =
          ((Decision.Committed)
                  ((Answer.Decided)
                          client.execute(FencingTest.commit(session, 0, id, start, 7)).get())
                      .decision())
              .commitTimestamp();
      // Until the leader's log does not reach back to what the member has.
      int commits = 1;
      while (commits <= 80 || hasFirstLogFile(members, members.leader())) {
        client.execute(FencingTest.large(session, commits, client.begin().get(), 200)).get();
        commits++;
      }
      int committed = commits;

      members.start(away);

      Members.await(
          "it has the leader's state",
          () -> {
            var status = members.node(away).status();
            return status.isPresent() && status.get().committed() >= committed;
          });
      assertThat(saved(members, away)).isNotEmpty();
      client.change(new MemberChange(MemberChange.Kind.LEAD, away)).get();
      Members.await("it serves", () -> members.node(away).isServing());
      assertThat(client.outcome(id).get())
          .contains(new Answer.Ended(new Outcome.Committed(timestamp)));
      assertThat(members.node(away).orphans()).extracting(PendingCommit::transactionId).isEmpty();
      assertThat(members.node(away).status().orElseThrow().pendingCommits()).isEqualTo(committed);
    }
  }

  private static boolean hasFirstLogFile(Members members, Peer peer) {
    return !files(members, peer, "log_0-.*").isEmpty();
  }

  /** Else it would be read again at each start, and fill the disk. */
  @Test
  void whenCommitsAreFewAndLargeThenTheLogBeforeThemGoesToo() throws Exception {
    OracleGroupConfig config = config(false);
    config = config.withRaft(config.raft().withSegmentBytes(8 << 20));
    byte[] writes = new byte[4 << 20];
    try (Members members = new Members(config, directory, 1).startAll()) {
      OracleClient client = members.client();
      Peer only = members.initialMembers().get(0);
      long session = FencingTest.open(client, UUID.randomUUID());
      long newest = 0;
      for (int i = 0; i <= OracleStateMachine.BYTES_PER_SAVE / writes.length; i++) {
        var request = TransactionsTest.update(UUID.randomUUID(), client.begin().get(), i);
        Answer answer = client.execute(new Command.Commit(session, i, request, writes)).get();
        newest = ((Decision.Committed) ((Answer.Decided) answer).decision()).commitTimestamp();
        client.logApplied(newest).get();
      }
      Members.await("it is saved", () -> !saved(members, only).isEmpty());
      while (hasFirstLogFile(members, only)) {
        newest = issue(client, 1);
      }
      members.stopAll();
      members.startAll();
      assertThat(issue(client, 1)).isGreaterThan(newest);
    }
  }

  @Test
  void whenASavedFileIsUnfinishedThenTheLogIsUsed() throws Exception {
    try (Members members = new Members(config(true), directory, 1).startAll()) {
      OracleClient client = members.client();
      Peer only = members.initialMembers().get(0);
      issue(client, 2 * ENTRIES_PER_SAVE);
      Members.await("it is saved", () -> !saved(members, only).isEmpty());
      long newest = issue(client, 1);
      members.stopAll();
      Path good = saved(members, only).get(0);
      Files.writeString(good.resolveSibling("snapshot.9_999999"), "not finished");
      Files.writeString(good.resolveSibling("snapshot.9_999998.unfinished"), "not finished");

      members.startAll();

      assertThat(issue(client, 1)).isGreaterThan(newest);
      assertThat(good.resolveSibling("snapshot.9_999999")).doesNotExist();
      assertThat(good.resolveSibling("snapshot.9_999998.unfinished")).doesNotExist();
    }
  }

  @Test
  void whenASavedFileIsDamagedThenTheMemberDoesNotStart() throws Exception {
    try (Members members = new Members(config(true), directory, 1).startAll()) {
      OracleClient client = members.client();
      Peer only = members.initialMembers().get(0);
      issue(client, 2 * ENTRIES_PER_SAVE);
      Members.await("it is saved", () -> !saved(members, only).isEmpty());
      members.stopAll();
      for (Path file : saved(members, only)) {
        byte[] bytes = Files.readAllBytes(file);
        bytes[bytes.length / 2] ^= 1;
        Files.write(file, bytes);
      }

      members.start(only);

      Thread.sleep(2_000);
      assertThat(members.node(only).isServing()).isFalse();
    }
  }

  @Test
  void whenANewerBuildSavedTheStateThenTheMemberStaysOutAndSaysWithWhatToStartIt()
      throws Exception {
    try (Members members = new Members(config(true), directory, 1).startAll()) {
      OracleClient client = members.client();
      Peer only = members.initialMembers().get(0);
      issue(client, 2 * ENTRIES_PER_SAVE);
      Members.await("it is saved", () -> !saved(members, only).isEmpty());
      long newest = issue(client, 1);
      members.stopAll();
      int format = ByteBuffer.wrap(Files.readAllBytes(saved(members, only).get(0))).getInt();
      setFormat(saved(members, only), 9);

      OracleNode node = members.start(only);

      Members.await("it says so", () -> node.problem().isPresent());
      assertThat(node.problem().orElseThrow())
          .contains("has format 9", "Start this node with the build that it ran before");
      assertThat(node.status()).isEmpty();
      setFormat(saved(members, only), format);
      Members.await("it serves", node::isServing);
      assertThat(issue(client, 1)).isGreaterThan(newest);
    }
  }

  private static void setFormat(List<Path> saved, int format) throws IOException {
    for (Path file : saved) {
      byte[] bytes = Files.readAllBytes(file);
      ByteBuffer.wrap(bytes).putInt(format);
      Files.write(file, bytes);
      MD5FileUtil.saveMD5File(file.toFile(), MD5FileUtil.computeMd5ForFile(file.toFile()));
    }
  }

  private static long issue(OracleClient client, int times) throws Exception {
    long last = 0;
    for (int i = 0; i < times; i++) {
      last =
          ((Answer.Issued) client.execute(new Command.IssueTimestamp(0)).get()).timestampMicros();
    }
    return last;
  }

  private static List<Path> saved(Members members, Peer peer) {
    return files(members, peer, "snapshot\\.\\d+_\\d+");
  }

  /** The member may be deleting others meanwhile. */
  private static List<Path> files(Members members, Peer peer, String name) {
    List<Path> found = new ArrayList<>();
    try {
      Files.walkFileTree(
          members.directoryOf(peer),
          new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
              if (file.getFileName().toString().matches(name)) {
                found.add(file);
              }
              return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path file, IOException gone) {
              return FileVisitResult.CONTINUE;
            }
          });
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return found;
  }
}
