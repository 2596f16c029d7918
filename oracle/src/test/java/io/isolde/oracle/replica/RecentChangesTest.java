// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica;

import static io.isolde.oracle.replica.ReplicaFixture.timestamp;
import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.oracle.CommitRequest;
import io.isolde.oracle.IsolationLevel;
import io.isolde.oracle.configuration.ConfigurationIds;
import io.isolde.oracle.configuration.ConfigurationReport;
import io.isolde.oracle.configuration.GroupInfo;
import io.isolde.oracle.configuration.NodeInfo;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RecentChangesTest {
  private static final byte[] WRITES = {1};
  private static final int MANY = 1_000;

  private final ReplicaFixture fixture = new ReplicaFixture();
  private int sequence;

  /** What an account was given, of all of these together. */
  private int keptChanges;

  private long keptBytes;
  private final RecentChanges.Account kept =
      (changes, bytes) -> {
        keptChanges += changes;
        keptBytes += bytes;
      };

  private Command numbered(int number, long... ids) {
    CommitRequest request =
        new CommitRequest(null, IsolationLevel.SERIALIZABLE, 0, new long[0], new long[0], ids);
    return new Command.Commit(fixture.session, number, request, WRITES);
  }

  private Command blind(long... ids) {
    return numbered(sequence++, ids);
  }

  /** Returns the commit timestamps. */
  private List<Long> apply(RecentChanges recent, Command... commands) {
    LogEntry entry = fixture.leadership.entry(List.of(commands), fixture.replica.last());
    List<Answer> answers = fixture.replica.apply(entry);
    fixture.leadership.entryApplied(entry);
    recent.applied(entry, answers, fixture.replica.configurationChanges());
    List<Long> timestamps = new ArrayList<>();
    for (Answer answer : answers) {
      if (answer instanceof Answer.Decided) {
        timestamps.add(timestamp(answer));
      }
    }
    return timestamps;
  }

  private static List<Long> changes(RecentChanges recent, long after, Set<Long> watched, int most) {
    return RecentChanges.matching(recent.after(after), watched, most);
  }

  @Test
  void whenACommitIsNotVisibleYetThenItIsNotTold() {
    RecentChanges recent = new RecentChanges(0);
    List<Long> commits = apply(recent, blind(1, 2), blind(3), blind(2));
    assertThat(changes(recent, 0, Set.of(2L), MANY)).isEmpty();
    assertThat(recent.visible(commits.get(1)))
        .extracting(RecentChanges.Change::commitTimestamp)
        .containsExactly(commits.get(0), commits.get(1));
    assertThat(recent.position()).isEqualTo(commits.get(1));
    assertThat(changes(recent, 0, Set.of(2L), MANY)).containsExactly(commits.get(0));
    assertThat(recent.visible(commits.get(2)))
        .extracting(RecentChanges.Change::commitTimestamp)
        .containsExactly(commits.get(2));
    assertThat(changes(recent, 0, Set.of(2L), MANY))
        .containsExactly(commits.get(0), commits.get(2));
    assertThat(changes(recent, 0, Set.of(2L), 1)).containsExactly(commits.get(0));
    assertThat(changes(recent, commits.get(0), Set.of(2L), MANY)).containsExactly(commits.get(2));
  }

  /** Who has waited for a row is to know of a commit before others see it. */
  @Test
  void whenTheNewestAreAskedForThenThoseThatAreNotVisibleYetComeFirst() {
    RecentChanges recent = new RecentChanges(0);
    List<Long> commits = apply(recent, blind(1), blind(2), blind(3), blind(4));
    assertThat(recent.visible(commits.get(1))).hasSize(2);
    assertThat(recent.newestAfter(commits.get(0)))
        .extracting(RecentChanges.Change::commitTimestamp)
        .containsExactly(commits.get(3), commits.get(2), commits.get(1));
    assertThat(recent.newestAfter(commits.get(2)))
        .extracting(RecentChanges.Change::commitTimestamp)
        .containsExactly(commits.get(3));
  }

  @Test
  void whenWhatIsVisibleGoesBackThenNothingIsToldAgain() {
    RecentChanges recent = new RecentChanges(0);
    List<Long> commits = apply(recent, blind(1), blind(1));
    assertThat(recent.visible(commits.get(1))).hasSize(2);
    assertThat(recent.visible(commits.get(0))).isEmpty();
    assertThat(recent.position()).isEqualTo(commits.get(1));
  }

  /** Each version of the configuration is one change, in the order of the commits around it. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void whenTheConfigurationChangesBesideCommitsThenBothAreReportedOnceAndInOrder(long seed) {
    Random random = new Random(seed);
    RecentChanges recent = new RecentChanges(0);
    List<Long> commits = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      List<Command> commands = new ArrayList<>();
      for (int j = 1 + random.nextInt(5); j > 0; j--) {
        commands.add(
            random.nextBoolean() ? blind(1) : new Command.Configure(RandomReports.next(random)));
      }
      List<Long> decided = apply(recent, commands.toArray(Command[]::new));
      decided.forEach(commit -> fixture.apply(new Command.Applied(commit)));
      commits.addAll(decided);
    }
    var unused = recent.visible(fixture.replica.stable());
    List<Long> all = recent.after(0).stream().map(RecentChanges.Change::commitTimestamp).toList();
    Set<Long> inOrder = new TreeSet<>(all);
    assertThat(all).containsExactlyElementsOf(inOrder);
    assertThat(changes(recent, 0, Set.of(1L), MANY)).isEqualTo(commits);
    assertThat(changes(recent, 0, ConfigurationIds.ofGroups(), MANY))
        .doesNotContainAnyElementsOf(commits)
        .hasSize((int) fixture.replica.configuration().version());
  }

  @Test
  void whenAPartOfTheConfigurationIsWatchedThenOnlyThatIsReported() {
    RecentChanges recent = new RecentChanges(0);
    NodeInfo node = new NodeInfo(new UUID(1, 1), "a", "b", "dc", "rack");
    apply(recent, new Command.Configure(new ConfigurationReport.RegisterNode(node, 1)));
    for (int number = 0; number < 2; number++) {
      UUID id = new UUID(2, number);
      GroupInfo group =
          new GroupInfo(id, "k" + number, number, "BATCH", List.of(), List.of(node.host()));
      apply(
          recent,
          new Command.Configure(new ConfigurationReport.RegisterGroup(group, node.host(), 1, 1)),
          new Command.Configure(new ConfigurationReport.NewLeader(id, node.host(), 2)));
    }
    var unused = recent.visible(fixture.replica.stable());
    assertThat(changes(recent, 0, ConfigurationIds.ofNodes(), MANY)).hasSize(1);
    assertThat(changes(recent, 0, ConfigurationIds.ofNode(node.host()), MANY)).hasSize(1);
    assertThat(changes(recent, 0, ConfigurationIds.ofNode(new UUID(1, 2)), MANY)).isEmpty();
    assertThat(changes(recent, 0, ConfigurationIds.ofKeyspace("k1"), MANY)).hasSize(1 + 2);
    assertThat(changes(recent, 0, ConfigurationIds.ofGroup("k1", 1), MANY)).hasSize(1 + 2);
    assertThat(changes(recent, 0, ConfigurationIds.ofGroup("k1", 0), MANY)).hasSize(1);
    assertThat(changes(recent, 0, ConfigurationIds.ofGroups(), MANY)).hasSize(1 + 4);
  }

  @Test
  void whenACommitIsAskedForAgainThenItIsThereOnce() {
    RecentChanges recent = new RecentChanges(0);
    long commit = apply(recent, numbered(7, 1)).get(0);
    assertThat(apply(recent, numbered(7, 1))).containsExactly(commit);
    assertThat(recent.visible(commit)).hasSize(1);
  }

  @Test
  void whenTheStateWasSavedWithCommitsThatWereNotVisibleThenItIsReadyAfterThose() {
    long before = apply(new RecentChanges(0), blind(1)).get(0);
    RecentChanges recent = new RecentChanges(fixture.replica.last());
    List<RecentChanges.Change> unused = recent.visible(before - 2);
    assertThat(recent.isReady()).isFalse();
    unused = recent.visible(fixture.replica.last());
    assertThat(recent.isReady()).isTrue();
    assertThat(recent.coversFrom()).isGreaterThanOrEqualTo(before);
  }

  @Test
  void whenThereAreTooManyIdsThenTheOldestCommitsGoAndItSaysSo() {
    RecentChanges recent = new RecentChanges(0, MANY, 4, kept);
    List<Long> commits = apply(recent, blind(1, 2), blind(3, 4), blind(5));
    var unused = recent.visible(commits.get(2));
    assertThat(recent.coversFrom()).isEqualTo(commits.get(0));
    assertThat(changes(recent, commits.get(0), Set.of(3L, 5L), MANY))
        .containsExactly(commits.get(1), commits.get(2));
  }

  @Test
  void whenOldestOnesAreToGoThenNoneGoesThatIsNewerOrNotVisible() {
    RecentChanges recent = new RecentChanges(0, MANY, MANY, kept);
    List<Long> commits = apply(recent, blind(1), blind(1, 2), blind(3), blind(4));
    assertThat(recent.oldest()).isEmpty();
    recent.forgetOldest(MANY, Long.MAX_VALUE);
    assertThat(recent.coversFrom()).isZero();
    var unused = recent.visible(commits.get(2));
    assertThat(recent.oldest()).hasValue(commits.get(0));
    long before = recent.bytes();
    recent.forgetOldest(1, Long.MAX_VALUE);
    assertThat(recent.bytes()).isLessThan(before);
    recent.forgetOldest(MANY, commits.get(1));
    assertThat(recent.coversFrom()).isEqualTo(commits.get(1));
    assertThat(changes(recent, commits.get(1), Set.of(3L), MANY)).containsExactly(commits.get(2));
    recent.forgetOldest(MANY, Long.MAX_VALUE);
    assertThat(keptChanges).as("the one that is not visible").isEqualTo(1);
    assertThat(keptBytes).isEqualTo(recent.bytes()).isPositive();
    assertThat(recent.visible(commits.get(3))).hasSize(1);
    recent.discard();
    assertThat(keptChanges).isZero();
    assertThat(keptBytes).isZero();
  }

  /** Against all commits, in a map. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void whenItIsAskedAnythingThenItKnowsWhatAModelKnows(long seed) {
    Random random = new Random(seed);
    RecentChanges recent = new RecentChanges(0, 20, 40, kept);
    TreeMap<Long, Set<Long>> model = new TreeMap<>();
    long visible = 0;
    for (int step = 0; step < 2_000; step++) {
      if (random.nextInt(3) > 0) {
        long[] ids = random.longs(1 + random.nextInt(3), 0, 10).distinct().toArray();
        long commit = apply(recent, blind(ids)).get(0);
        Set<Long> written = new HashSet<>();
        for (long id : ids) {
          written.add(id);
        }
        model.put(commit, written);
      } else if (!model.isEmpty()) {
        Long next = model.ceilingKey(visible + 1);
        long before = visible;
        visible = next == null || random.nextInt(4) == 0 ? model.lastKey() : next;
        var unused = recent.visible(visible);
        for (long applied : model.subMap(before, false, visible, true).keySet()) {
          assertThat(apply(recent, new Command.Applied(applied))).isEmpty();
        }
      }
      if (random.nextInt(50) == 0) {
        recent.forgetOldest(random.nextInt(20), Long.MAX_VALUE);
      }
      assertThat(keptBytes).isEqualTo(recent.bytes());
      long after = Math.max(recent.coversFrom(), visible - random.nextInt(60));
      Set<Long> watched = Set.of((long) random.nextInt(10));
      List<Long> expected =
          model.subMap(after, false, Math.max(after, visible), true).entrySet().stream()
              .filter(commit -> commit.getValue().stream().anyMatch(watched::contains))
              .map(Map.Entry::getKey)
              .toList();
      assertThat(changes(recent, after, watched, MANY)).as("seed %s", seed).isEqualTo(expected);
      assertThat(recent.position()).isEqualTo(visible);
    }
  }
}
