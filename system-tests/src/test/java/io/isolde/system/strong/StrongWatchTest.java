// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.strong;

import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.Row;
import io.isolde.client.ErrorCode;
import io.isolde.client.Isolde;
import io.isolde.client.PushOptions;
import io.isolde.client.Watch;
import io.isolde.system.Await;
import io.isolde.system.HeardChanges;
import io.isolde.system.NodeLogs;
import io.isolde.system.Refusals;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;

/** Watches of tables of strong keyspaces that are not transactional. */
@ExtendWith(NodeLogs.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class StrongWatchTest {
  private static final int KEYS = 4;
  private static final int WATCHERS = 40;
  private static final int SOON_MILLIS = 20_000;
  private static final int WRITES_OF_A_PART = 150;

  private StrongCluster nodes;

  @BeforeAll
  void start() {
    nodes = StrongCluster.start("strong-watch", "127.0.53.1");
    nodes.execute("CREATE TABLE s.t (p int, c int, v int, PRIMARY KEY (p, c))");
    nodes.execute("CREATE TABLE s.other (p int PRIMARY KEY, v int, w int)");
    nodes.execute("CREATE TABLE s.killed (p int, c int, v int, PRIMARY KEY (p, c))");
    nodes.cluster.awaitSchemaAgreement(StrongCluster.PATIENCE);
  }

  @AfterAll
  void stop() {
    if (nodes != null) {
      nodes.close();
    }
  }

  /** An answer to SELECT CHANGES. */
  private record Answer(List<Long> changes, long position, boolean isLost) {}

  private Answer ask(int node, String from, String after, int waitMillis) {
    List<Long> changes = new ArrayList<>();
    Row last = null;
    for (Row row :
        nodes.on(
            node,
            "SELECT CHANGES FROM %s AFTER %s WITHIN %d MILLISECONDS"
                .formatted(from, after, waitMillis))) {
      if (row.getString("event").equals("change")) {
        changes.add(row.getLong("timestamp"));
      }
      last = row;
    }
    return new Answer(changes, last.getLong("timestamp"), last.getString("event").equals("lost"));
  }

  private Answer ask(int node, String from, long after, int waitMillis) {
    return ask(node, from, String.valueOf(after), waitMillis);
  }

  private long now(int node, String from) {
    return ask(node, from, "NOW", 0).position();
  }

  private long written(String where) {
    return nodes.execute("SELECT WRITETIME(v) FROM s.t WHERE " + where).one().getLong(0);
  }

  @Test
  void whenAWriteIsAnsweredThenItsWatchersHearOfItOnEveryNodeWithItsTimestamp() {
    String row = "s.t WHERE p = 1 AND c = 1";
    for (int node = 1; node <= 3; node++) {
      long begin = now(node, row);
      nodes.execute("INSERT INTO s.t (p, c, v) VALUES (1, 2, ?)", node);
      nodes.execute("INSERT INTO s.t (p, c, v) VALUES (1, 1, ?)", node);
      long first = written("p = 1 AND c = 1");
      nodes.execute("UPDATE s.t SET v = 5 WHERE p = 1 AND c = 1 IF v = ?", node);
      long second = written("p = 1 AND c = 1");
      Answer answer = ask(node, row, begin, SOON_MILLIS);
      List<Long> changes = new ArrayList<>(answer.changes());
      if (changes.size() == 1) { // A follower may hear of the second one later.
        answer = ask(node, row, answer.position(), SOON_MILLIS);
        changes.addAll(answer.changes());
      }
      assertThat(changes).containsExactly(first, second);
      assertThat(ask(node, row, answer.position(), 0).changes()).isEmpty();
      for (int other = 1; other <= 3; other++) {
        Answer again = ask(other, row, begin, SOON_MILLIS);
        assertThat(again.changes().get(0)).isEqualTo(first);
        assertThat(again.position()).isGreaterThanOrEqualTo(first);
      }
    }
  }

  @Test
  void whenNothingIsWrittenThenAWatchEndsWithAPositionBeforeTheDriverGivesUp() {
    long begin = now(1, "s.t WHERE p = 2");
    nodes.execute("INSERT INTO s.t (p, c, v) VALUES (3, 1, 1)");
    for (int node = 1; node <= 3; node++) {
      Answer nothing = ask(node, "s.t WHERE p = 2", begin, 1_500);
      assertThat(nothing.changes()).isEmpty();
      assertThat(nothing.isLost()).isFalse();
      assertThat(nothing.position()).isGreaterThan(begin);
    }
  }

  /** The log has it, as it has the writes. */
  @Test
  void whenATableIsTruncatedThenThatIsAChangeOfAllThatItHad() {
    nodes.execute("CREATE TABLE s.short (p int PRIMARY KEY, v int)");
    nodes.cluster.awaitSchemaAgreement(StrongCluster.PATIENCE);
    nodes.execute("INSERT INTO s.short (p, v) VALUES (1, 1)");
    for (String from : List.of("s.short WHERE p = 1", "s.short")) {
      long begin = now(1, from);
      nodes.execute("TRUNCATE s.short");
      Answer answer = ask(2, from, begin, SOON_MILLIS);
      assertThat(answer.isLost()).isFalse();
      assertThat(answer.changes()).hasSize(1);
      assertThat(ask(2, from, answer.position(), 0).changes()).isEmpty();
    }
  }

  @Test
  void whenATableLosesAColumnOrChangesSidesThenItsWatchersAreLostOnceAndGoOn() {
    String from = "s.other WHERE p = 1";
    nodes.execute("INSERT INTO s.other (p, v, w) VALUES (1, 1, 1)");
    long position = now(1, from);
    for (String statement :
        List.of(
            "ALTER TABLE s.other DROP w",
            "ENABLE TRANSACTIONS ON s.other",
            "DISABLE TRANSACTIONS ON s.other")) {
      nodes.execute(statement);
      nodes.cluster.awaitSchemaAgreement(StrongCluster.PATIENCE);
      boolean isReported = !statement.startsWith("DISABLE"); // Its log goes on with what came.
      Answer answer = ask(1, from, position, 0);
      assertThat(answer.isLost()).as(statement).isEqualTo(isReported);
      while (answer.isLost()) { // It may come twice.
        answer = ask(1, from, answer.position(), 0);
      }
      nodes.execute("UPDATE s.other SET v = 2 WHERE p = 1");
      Answer next = ask(1, from, answer.position(), SOON_MILLIS);
      assertThat(next.changes()).as(statement).hasSize(1);
      position = next.position();
    }
  }

  @Test
  void whenWhatIsWatchedIsOfSeveralGroupsThenItIsRefusedAndEachCanBeWatched() {
    nodes.execute(
        "CREATE KEYSPACE several WITH replication = {'class': 'ReplicatedLogStrategy',"
            + " 'replication_factor': 3, 'groups': 3}");
    nodes.execute("CREATE TABLE several.t (p int PRIMARY KEY, v int)");
    nodes.cluster.awaitSchemaAgreement(StrongCluster.PATIENCE);
    Refusals.assertRefused(ErrorCode.UNSUPPORTED_KEYSPACE, () -> now(1, "several.t"));
    for (int p = 0; p < 10; p++) {
      String from = "several.t WHERE p = " + p;
      long begin = now(1 + p % 3, from);
      nodes.execute("INSERT INTO several.t (p, v) VALUES (?, 1)", p);
      assertThat(ask(1 + (p + 1) % 3, from, begin, SOON_MILLIS).changes()).hasSize(1);
    }
    nodes.execute("DROP KEYSPACE several");
  }

  /** What one client has heard. */
  private static final class Heard extends HeardChanges {
    private final int key;
    private Watch watch;

    private Heard(int key) {
      this.key = key;
    }
  }

  /** Each write makes a row of its own, so the table says at last what there was to be heard. */
  @Test
  void whenLeadersDieThenEveryWatcherHearsOfEachWriteOnceAndInOrder() throws Exception {
    long begin = now(1, "s.killed");
    CqlSession session = nodes.connect();
    List<Heard> clients = new ArrayList<>();
    Isolde asking = Isolde.on(session);
    Isolde pushed = asking.withPush(PushOptions.defaults());
    for (int i = 0; i < WATCHERS; i++) {
      Heard heard = new Heard(i % KEYS);
      heard.watch =
          (i < WATCHERS / 2 ? asking : pushed)
              .watch(
                  "SELECT CHANGES FROM s.killed WHERE p = ?",
                  List.of(heard.key),
                  OptionalLong.of(begin),
                  heard);
      clients.add(heard);
    }
    Await.until("half of them are pushed", () -> pushedWatchers() == WATCHERS - WATCHERS / 2);
    for (int part = 0; part < 3; part++) {
      writeSome(session, part);
      int dying = part == 1 ? 1 + nodes.leader(1, "s") % 3 : nodes.leader(1, "s");
      nodes.cluster.node(dying).kill();
      writeSome(session, 10 + part);
      nodes.restart(dying);
    }
    writeSome(session, 20);
    List<Set<Long>> expected = new ArrayList<>();
    for (int key = 0; key < KEYS; key++) {
      Set<Long> timestamps = new TreeSet<>();
      for (Row row : nodes.execute("SELECT WRITETIME(v) FROM s.killed WHERE p = ?", key)) {
        timestamps.add(row.getLong(0));
      }
      expected.add(timestamps);
    }
    Await.until(
        "all have heard of all",
        () ->
            clients.stream()
                .allMatch(
                    heard ->
                        !heard.others().isEmpty()
                            || heard.commits().size() >= expected.get(heard.key).size()));
    for (Heard heard : clients) {
      assertThat(heard.others()).isEmpty();
      assertThat(heard.commits()).containsExactlyElementsOf(expected.get(heard.key));
      heard.watch.close();
    }
    session.close();
  }

  private int pushedWatchers() {
    return nodes.execute("SELECT watchers FROM isolde.push_nodes").all().stream()
        .mapToInt(row -> row.getInt("watchers"))
        .sum();
  }

  /** One that fails may be written or not; the table says it. Waits until none is under way. */
  private static void writeSome(CqlSession session, int part) throws InterruptedException {
    List<CompletableFuture<Boolean>> answers = new ArrayList<>();
    for (int i = 0; i < WRITES_OF_A_PART; i++) {
      answers.add(
          session
              .executeAsync(
                  "INSERT INTO s.killed (p, c, v) VALUES (%d, %d, 1)"
                      .formatted(i % KEYS, part * WRITES_OF_A_PART + i))
              .toCompletableFuture()
              .handle((done, error) -> error == null));
      Thread.sleep(5);
    }
    assertThat(answers.stream().filter(CompletableFuture::join).count()).isPositive();
  }
}
