// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.isolde.oracle.CommitRequest;
import io.isolde.oracle.Decision;
import io.isolde.oracle.IsolationLevel;
import io.isolde.raft.GroupFailure;
import io.isolde.raft.Peer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Watchers hear of each commit once and in order, whichever members they ask. */
class ChangesTest {
  private static final int ROWS = 8;
  private static final int WATCHERS = 10;
  private static final int COMMITS_PER_PART = 60;
  private static final long WAIT_MILLIS = 300;

  @TempDir Path directory;

  private final TreeMap<Long, Set<Long>> committed = new TreeMap<>();

  private long commit(CoordinatorSession session, Long... rows) throws Exception {
    long start = session.begin().get();
    long[] ids = new long[rows.length];
    for (int i = 0; i < ids.length; i++) {
      ids[i] = rows[i];
    }
    CommitRequest request =
        new CommitRequest(null, IsolationLevel.SNAPSHOT, start, new long[0], new long[0], ids);
    Decision decision = session.commit(request).get(30, TimeUnit.SECONDS);
    session.ended(start);
    long timestamp = ((Decision.Committed) decision).commitTimestamp();
    session.applied(timestamp).get(30, TimeUnit.SECONDS);
    committed.put(timestamp, Set.of(rows));
    return timestamp;
  }

  private static Changes.Notification ask(OracleNode node, long after, long waitMillis, Long... ids)
      throws Exception {
    return node.changes()
        .orElseThrow()
        .after(OptionalLong.of(after), Set.of(ids), waitMillis)
        .get(30, TimeUnit.SECONDS);
  }

  @Test
  void whenARowIsWrittenThenThoseAreToldWhoWatchItOnAnyMember() throws Exception {
    try (Members members = new Members(Members.quick(), directory, 3).startAll()) {
      CoordinatorSession session = members.session();
      long first = commit(session, 1L);
      for (Peer peer : members.initialMembers()) {
        Changes changes = members.node(peer).changes().orElseThrow();
        long before = committed.lastKey();
        CompletableFuture<Changes.Notification> one =
            changes.after(OptionalLong.of(before), Set.of(1L, 5L), 30_000);
        CompletableFuture<Changes.Notification> other =
            changes.after(OptionalLong.of(before), Set.of(2L), 30_000);
        long second = commit(session, 1L, 5L);
        Changes.Notification notification = one.get(30, TimeUnit.SECONDS);
        assertThat(notification.commits()).containsExactly(second);
        assertThat(notification.position()).isGreaterThanOrEqualTo(second);
        assertThat(other).isNotDone();
        assertThat(changes.waiting()).isEqualTo(1);
        other.cancel(false);
        assertThat(changes.waiting()).isZero();
        assertThat(ask(members.node(peer), first, 0, 1L).commits())
            .isEqualTo(tailOf(first, Set.of(1L)));
        assertThat(ask(members.node(peer), second, 50, 1L).commits()).isEmpty();
      }
    }
  }

  private List<Long> tailOf(long after, Set<Long> watched) {
    return committed.tailMap(after, false).entrySet().stream()
        .filter(commit -> commit.getValue().stream().anyMatch(watched::contains))
        .map(Map.Entry::getKey)
        .toList();
  }

  @Test
  void whenMoreHasChangedThanIsToldAtOnceThenTheNextQuestionGetsTheRest() throws Exception {
    try (Members members = new Members(Members.quick(), directory, 1).startAll()) {
      CoordinatorSession session = members.session();
      long before = commit(session, 9L);
      for (int i = 0; i <= Changes.MAX_NOTIFIED; i++) {
        long unused = commit(session, 1L);
      }
      OracleNode node = members.node(members.leader());
      Changes.Notification first = ask(node, before, 0, 1L);
      assertThat(first.commits()).hasSize(Changes.MAX_NOTIFIED);
      Changes.Notification rest = ask(node, first.position(), 0, 1L);
      assertThat(rest.commits()).containsExactly(committed.lastKey());
    }
  }

  @Test
  void whenAMemberHasLostTheOthersThenItTellsNothingAndNobodyWaits() throws Exception {
    try (Members members = new Members(Members.quick(), directory, 3).startAll()) {
      long last = commit(members.session(), 1L);
      Peer left = members.followers().get(0);
      Changes changes = members.node(left).changes().orElseThrow();
      CompletableFuture<Changes.Notification> waiting =
          changes.after(OptionalLong.of(last), Set.of(1L), 60_000);
      for (Peer peer : members.initialMembers()) {
        if (!peer.equals(left)) {
          members.kill(peer);
        }
      }
      assertThatThrownBy(() -> waiting.get(30, TimeUnit.SECONDS))
          .isInstanceOf(ExecutionException.class)
          .hasCauseInstanceOf(GroupFailure.class);
      assertThat(changes.after(OptionalLong.of(last), Set.of(1L), 10)).isCompletedExceptionally();
      members.awaitEnds();
    }
  }

  @Test
  void whenAMemberStartsAgainThenItStillKnowsWhatWasCommittedBefore() throws Exception {
    OracleGroupConfig config = Members.quick().withLogKeepMillis(600_000);
    try (Members members = new Members(config, directory, 1).startAll()) {
      Peer only = members.leader();
      CoordinatorSession session = members.session();
      long first = commit(session, 1L);
      long second = commit(session, 1L);
      members.stop(only);
      OracleNode again = members.start(only);
      Members.await("it leads", again::isServing);
      Members.await("it has its log", () -> isAt(again, second));
      assertThat(ask(again, first, 0, 1L))
          .as("commits at %d and %d", first, second)
          .extracting(Changes.Notification::commits, Changes.Notification::isLost)
          .containsExactly(List.of(second), false);
    }
  }

  private static boolean isAt(OracleNode node, long position) {
    CompletableFuture<Changes.Notification> now =
        node.changes().orElseThrow().after(OptionalLong.empty(), Set.of(1L), 0);
    return !now.isCompletedExceptionally() && now.join().position() >= position;
  }

  /** Asks a member, then another one. */
  private final class Watcher {
    private final Random random;
    private final Set<Long> ids = new HashSet<>();
    private final List<Long> heard = new ArrayList<>();
    private final long begin;
    private volatile long position;

    private Watcher(Random random, long begin) {
      this.random = random;
      this.begin = begin;
      this.position = begin;
      while (ids.size() < 2) {
        ids.add((long) random.nextInt(ROWS));
      }
    }

    private void askOne(Members members) {
      List<Peer> peers = members.initialMembers();
      OracleNode node = members.node(peers.get(random.nextInt(peers.size())));
      Changes changes = node == null ? null : node.changes().orElse(null);
      if (changes != null) {
        follow(changes);
      }
    }

    private void follow(Changes changes) {
      try {
        Changes.Notification notification =
            changes.after(OptionalLong.of(position), ids, WAIT_MILLIS).get(30, TimeUnit.SECONDS);
        assertThat(notification.isLost()).isFalse();
        heard.addAll(notification.commits());
        position = notification.position();
      } catch (ExecutionException e) {
        assertThat(e).hasCauseInstanceOf(GroupFailure.class); // Another one is asked.
      } catch (InterruptedException | TimeoutException e) {
        throw new AssertionError(e);
      }
    }

    private void check() {
      assertThat(heard).isEqualTo(tailOf(begin, ids).stream().filter(t -> t <= position).toList());
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2})
  void whenLeadersDieThenEveryWatcherHearsOfEachCommitOnceAndInOrder(long seed) throws Exception {
    Random random = new Random(seed);
    OracleGroupConfig config = Members.quick().withLogKeepMillis(600_000);
    try (Members members = new Members(config, directory, 3).startAll()) {
      CoordinatorSession session = members.session();
      long begin = commit(session, 0L);
      List<Watcher> watchers = new ArrayList<>();
      for (int i = 0; i < WATCHERS; i++) {
        watchers.add(new Watcher(new Random(seed * 100 + i), begin));
      }
      AtomicLong upTo = new AtomicLong(Long.MAX_VALUE);
      List<CompletableFuture<Void>> following = new ArrayList<>();
      for (Watcher watcher : watchers) {
        following.add(
            CompletableFuture.runAsync(
                () -> {
                  while (watcher.position < upTo.get()) {
                    watcher.askOne(members);
                  }
                },
                task -> new Thread(task, "watcher").start()));
      }
      for (int part = 0; part < 3; part++) {
        for (int i = 0; i < COMMITS_PER_PART; i++) {
          long unused =
              commit(session, (long) random.nextInt(ROWS), ROWS + (long) random.nextInt(ROWS));
        }
        Peer dying = part == 1 ? members.followers().get(0) : members.leader();
        members.kill(dying);
        for (int i = 0; i < COMMITS_PER_PART / 4; i++) {
          long unused = commit(session, (long) random.nextInt(ROWS));
        }
        members.awaitEnds();
        var unused = members.start(dying);
      }
      upTo.set(committed.lastKey());
      CompletableFuture.allOf(following.toArray(CompletableFuture[]::new))
          .get(60, TimeUnit.SECONDS);
      watchers.forEach(Watcher::check);
    }
  }
}
