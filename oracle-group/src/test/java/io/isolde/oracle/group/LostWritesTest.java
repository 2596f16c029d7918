// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.oracle.CommitRequest;
import io.isolde.oracle.Decision;
import io.isolde.oracle.IsolationLevel;
import io.isolde.oracle.replica.Answer;
import io.isolde.oracle.replica.Command;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Nodes that come back ask for writes that were applied, and that nobody else keeps. */
class LostWritesTest {
  private static final int ENTRIES_PER_SAVE = 10;
  private static final int COMMITS = 40;

  private static final int PARTS = 4;

  /** Several of them fill a page. */
  private static final int WRITE_BYTES = 300_000;

  @TempDir Path directory;

  private final Map<Long, byte[]> committed = new TreeMap<>();

  private static OracleGroupConfig config(long logKeepMillis) {
    OracleGroupConfig config = Members.quick().withLeaseMillis(60_000);
    return config
        .withLogKeepMillis(logKeepMillis)
        .withRaft(
            config
                .raft()
                .withFsync(false)
                .withSegmentBytes(8 << 20)
                .withSnapshots(ENTRIES_PER_SAVE, true));
  }

  private long commit(OracleClient client, long session, int number) throws Exception {
    byte[] writes = new byte[number % 4 == 0 ? WRITE_BYTES : 10];
    writes[0] = (byte) number;
    long start = client.begin().get();
    long[] rows = {number};
    CommitRequest request =
        new CommitRequest(
            UUID.randomUUID(), IsolationLevel.SERIALIZABLE, start, rows, new long[0], rows);
    Answer answer = client.execute(new Command.Commit(session, number, request, writes)).get();
    long timestamp = ((Decision.Committed) ((Answer.Decided) answer).decision()).commitTimestamp();
    committed.put(timestamp, writes);
    return timestamp;
  }

  private static long issue(OracleClient client) throws Exception {
    return ((Answer.Issued) client.execute(new Command.IssueTimestamp(0)).get()).timestampMicros();
  }

  /** Returns whether the log had all. */
  private static boolean ask(
      OracleClient client, long safeUpTo, List<Long> unsafe, Map<Long, byte[]> found)
      throws Exception {
    LostWrites.Question question = LostWrites.Question.first(safeUpTo, unsafe, issue(client));
    boolean isWhole = true;
    boolean isLast = false;
    while (!isLast) {
      LostWrites.Page page = client.lostWrites(question).get();
      for (LostWrites.Commit part : page.commits()) {
        found.merge(part.commitTimestamp(), part.bytes(), LostWritesTest::join);
      }
      isWhole &= page.isWhole();
      isLast = page.isLast();
      question = question.after(page);
    }
    return isWhole;
  }

  private static byte[] join(byte[] before, byte[] part) {
    byte[] joined = Arrays.copyOf(before, before.length + part.length);
    System.arraycopy(part, 0, joined, before.length, part.length);
    return joined;
  }

  /** A few are large: its writes fill several pages. */
  private void commitAll(OracleClient client) throws Exception {
    long session = FencingTest.open(client, UUID.randomUUID());
    for (int i = 0; i < COMMITS; i++) {
      client
          .logApplied(i % 13 == 3 ? commitInParts(client, session, i) : commit(client, session, i))
          .get();
    }
  }

  private long commitInParts(OracleClient client, long session, int number) throws Exception {
    UUID id = UUID.randomUUID();
    long start = client.begin().get();
    byte[] writes = {};
    for (int i = 0; i < PARTS; i++) {
      byte[] part = new byte[WRITE_BYTES];
      part[i] = (byte) number;
      assertThat(client.execute(new Command.Stage(session, id, i, PARTS * WRITE_BYTES, part)).get())
          .isEqualTo(new Answer.Done());
      writes = join(writes, part);
    }
    long[] rows = {number};
    CommitRequest request =
        new CommitRequest(id, IsolationLevel.SERIALIZABLE, start, rows, new long[0], rows);
    Answer answer =
        client
            .execute(
                new Command.Commit(
                    session, number, request, new byte[0], new Command.Staged(id, PARTS)))
            .get();
    long timestamp = ((Decision.Committed) ((Answer.Decided) answer).decision()).commitTimestamp();
    committed.put(timestamp, writes);
    return timestamp;
  }

  @Test
  void whenAllMembersRestartThenTheWritesOfAppliedCommitsAreStillInTheLog() throws Exception {
    try (Members members = new Members(config(60_000), directory, 3).startAll()) {
      OracleClient client = members.client();
      commitAll(client);
      members.stopAll();
      members.startAll();

      Map<Long, byte[]> found = new TreeMap<>();
      assertThat(ask(client, 0, List.of(), found)).isTrue();
      assertThat(found.keySet()).isEqualTo(committed.keySet());
      found.forEach((at, writes) -> assertThat(writes).isEqualTo(committed.get(at)));
    }
  }

  @Test
  void whenACommitIsSafeThenItIsGivenOnlyIfItIsAskedForByItself() throws Exception {
    try (Members members = new Members(config(60_000), directory, 1).startAll()) {
      OracleClient client = members.client();
      commitAll(client);
      List<Long> timestamps = List.copyOf(committed.keySet());
      long safeUpTo = timestamps.get(COMMITS / 2);
      long unsafe = timestamps.get(3);

      Map<Long, byte[]> found = new TreeMap<>();
      assertThat(ask(client, safeUpTo, List.of(unsafe), found)).isTrue();
      assertThat(found.keySet())
          .hasSize(COMMITS / 2)
          .contains(unsafe)
          .allMatch(timestamp -> timestamp == unsafe || timestamp > safeUpTo);
      assertThat(ask(client, safeUpTo, List.of(unsafe + 1), found)).isFalse();
    }
  }

  @Test
  void whenACommitIsStillSetAsideThenItIsGivenThoughTheLogNoLongerHasIt() throws Exception {
    try (Members members = new Members(config(0).withOverdueMillis(500), directory, 1).startAll()) {
      OracleClient client = members.client();
      long session = FencingTest.open(client, UUID.randomUUID());
      long stuck = commit(client, session, COMMITS);
      commitAll(client);
      Members.await("the first is no longer there", () -> isGone(client));
      members.stopAll();
      members.startAll();
      client.begin().get(); // The leader has settled.

      Map<Long, byte[]> found = new TreeMap<>();
      long last = List.copyOf(committed.keySet()).get(committed.size() - 1);
      assertThat(ask(client, last, List.of(stuck), found)).isTrue();
      assertThat(found.keySet()).containsExactly(stuck);
    }
  }

  @Test
  void whenTheLogDoesNotReachBackThenThatIsSaid() throws Exception {
    try (Members members = new Members(config(0), directory, 1).startAll()) {
      OracleClient client = members.client();
      commitAll(client);
      Members.await("the first is no longer there", () -> isGone(client));
      long last = List.copyOf(committed.keySet()).get(committed.size() - 1);
      assertThat(ask(client, last, List.of(), new TreeMap<>())).isTrue();
    }
  }

  private boolean isGone(OracleClient client) {
    try {
      Map<Long, byte[]> found = new TreeMap<>();
      boolean isWhole = ask(client, 0, List.of(), found);
      assertThat(isWhole).isEqualTo(found.size() == committed.size());
      commitAll(client);
      return !isWhole;
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }
}
