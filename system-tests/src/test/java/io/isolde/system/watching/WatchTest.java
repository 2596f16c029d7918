// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.watching;

import static io.isolde.system.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.servererrors.InvalidQueryException;
import com.datastax.oss.driver.api.core.servererrors.SyntaxError;
import io.isolde.client.ErrorCode;
import io.isolde.client.Transaction;
import io.isolde.client.Watch;
import io.isolde.client.WatchListener;
import io.isolde.system.Await;
import io.isolde.system.SystemNode;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** SELECT CHANGES, as a client sees it. */
class WatchTest {
  private static final SystemNode NODE = SystemNode.shared();
  private static final String TABLE =
      NODE.table("p int, c int, v int, s int static, PRIMARY KEY (p, c)");
  private static final int SOON_MILLIS = 10_000;
  private static final int SHORT_MILLIS = 100;
  private static final int MANY = 600;
  private static final int TRUNCATES = 20;

  private static CqlSession session() {
    return NODE.session();
  }

  private static long now() {
    return Asked.now(session(), TABLE);
  }

  private static void write(int p, int c, int v) {
    session().execute("INSERT INTO %s (p, c, v) VALUES (%d, %d, %d)".formatted(TABLE, p, c, v));
  }

  /** What is watched; a write that it must report; and one that it must not. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "p = 1 AND c = 1 | INSERT INTO $t (p, c, v) VALUES (1, 1, 5) | UPDATE $t SET v = 1 WHERE p = 1 AND c = 2",
        "p = 1 AND c = 1 | DELETE FROM $t WHERE p = 1 | DELETE FROM $t WHERE p = 2",
        "p = 1 AND c = 1 | DELETE FROM $t WHERE p = 1 AND c > 0 | DELETE FROM $t WHERE p = 1 AND c = 2",
        "p = 1 AND c = 1 | UPDATE $t SET s = 5 WHERE p = 1 | UPDATE $t SET s = 5 WHERE p = 2",
        "p = 1 AND c IN (1, 3) | UPDATE $t SET v = 5 WHERE p = 1 AND c = 3 | UPDATE $t SET v = 1 WHERE p = 1 AND c = 2",
        "p = 1 AND c > 5 | UPDATE $t SET v = 5 WHERE p = 1 AND c = 6 | UPDATE $t SET v = 5 WHERE p = 2 AND c = 6",
        "p = 1 | UPDATE $t SET v = 5 WHERE p = 1 AND c = 6 | UPDATE $t SET v = 5 WHERE p = 2 AND c = 6",
        "p IN (1, 2) | UPDATE $t SET s = 5 WHERE p = 2 | UPDATE $t SET s = 5 WHERE p = 3",
        "token(p) = token(1) | UPDATE $t SET v = 5 WHERE p = 1 AND c = 1 | UPDATE $o SET v = 5 WHERE p = 1 AND c = 1",
        "v = 5 ALLOW FILTERING | UPDATE $t SET v = 5 WHERE p = 1 AND c = 1 | UPDATE $o SET v = 5 WHERE p = 1 AND c = 1",
        "p = 1 AND c = 1 | BEGIN BATCH UPDATE $t SET v = 1 WHERE p = 9 AND c = 1; DELETE v FROM $t WHERE p = 1 AND c = 1; APPLY BATCH | UPDATE $t SET v = 1 WHERE p = 9 AND c = 1 IF EXISTS",
      })
  void whenWhatIsWatchedIsWrittenThenItIsToldAndOtherwiseNot(
      String watched, String telling, String silent) {
    String other = NODE.table("p int, c int, v int, s int static, PRIMARY KEY (p, c)");
    write(1, 1, 0);
    write(9, 1, 0);
    String select = "SELECT CHANGES FROM %s WHERE %s".formatted(TABLE, watched);
    long begin = now();
    session().execute(silent.replace("$t", TABLE).replace("$o", other));
    Asked before = Asked.of(session(), select, begin, SHORT_MILLIS);
    assertThat(before.changes()).isEmpty();
    assertThat(before.position()).isGreaterThan(begin);
    session().execute(telling.replace("$t", TABLE).replace("$o", other));
    Asked after = Asked.of(session(), select, before.position(), SOON_MILLIS);
    assertThat(after.changes()).hasSize(1);
    assertThat(Asked.of(session(), select, begin, 0).changes()).isEqualTo(after.changes());
    assertThat(Asked.of(session(), select, after.position(), 0).changes()).isEmpty();
  }

  @Test
  void whenATransactionHasReadThenAWatchAfterItsStartMissesNothing() throws Exception {
    write(20, 1, 1);
    String select = "SELECT CHANGES FROM %s WHERE p = 20".formatted(TABLE);
    long start;
    try (Transaction tx = NODE.isolde().begin()) {
      assertThat(
              tx.execute("SELECT v FROM %s WHERE p = 20 AND c = 1".formatted(TABLE))
                  .one()
                  .getInt(0))
          .isEqualTo(1);
      start = tx.startTimestamp();
      tx.commit();
    }
    long commit =
        NODE.isolde()
            .run(
                tx -> {
                  tx.execute("UPDATE %s SET v = 2 WHERE p = 20 AND c = 1".formatted(TABLE));
                  tx.execute("UPDATE %s SET v = 2 WHERE p = 21 AND c = 1".formatted(TABLE));
                  return tx.commit().commitTimestamp().getAsLong();
                });
    assertThat(Asked.of(session(), select, start, SOON_MILLIS).changes()).containsExactly(commit);
  }

  @Test
  void whenItIsPreparedThenMarkersAndNamesStandForAllOfIt() {
    PreparedStatement select =
        session()
            .prepare(
                "SELECT CHANGES FROM %s WHERE p = ? AND c = ? AFTER ? WITHIN ? MILLISECONDS;"
                    .formatted(TABLE));
    Asked begin = Asked.of(session(), select.bind(30, 1, null, 0));
    write(30, 1, 1);
    Asked notification = Asked.of(session(), select.bind(30, 1, begin.position(), SOON_MILLIS));
    assertThat(notification.changes()).hasSize(1);
    PreparedStatement named =
        session()
            .prepare(
                "/* one */ select changes\nfrom %s -- of\nwhere p = :p after :t within :w milliseconds"
                    .formatted(TABLE));
    Asked same =
        Asked.of(
            session(),
            named.bind().setInt("w", SOON_MILLIS).setLong("t", begin.position()).setInt("p", 30));
    assertThat(same.changes()).isEqualTo(notification.changes());
    session().execute("ALTER TABLE %s ADD added%d int".formatted(TABLE, System.nanoTime()));
    assertThat(Asked.of(session(), select.bind(30, 1, begin.position(), 0)).changes())
        .isEqualTo(notification.changes());
  }

  @Test
  void whenManyWaitThenOthersGoOnAndEachIsToldOnce() throws Exception {
    PreparedStatement select =
        session()
            .prepare(
                "SELECT CHANGES FROM %s WHERE p = ? AFTER ? WITHIN 30000 MILLISECONDS"
                    .formatted(TABLE));
    long begin = now();
    List<CompletableFuture<Asked>> waiting = new ArrayList<>();
    for (int i = 0; i < MANY; i++) {
      waiting.add(
          session()
              .executeAsync(select.bind(40 + i % 2, begin))
              .thenApply(result -> Asked.of(result.currentPage()))
              .toCompletableFuture());
    }
    long startNanos = System.nanoTime();
    write(50, 1, 1);
    assertThat(TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - startNanos)).isLessThan(20);
    assertThat(waiting).noneMatch(CompletableFuture::isDone);
    write(40, 1, 1);
    write(41, 1, 1);
    for (CompletableFuture<Asked> each : waiting) {
      assertThat(each.get(30, TimeUnit.SECONDS).changes()).hasSize(1);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"TRUNCATE $t", "ALTER TABLE $t DROP w"})
  void whenATableLosesWhatNoCommitTellsOfThenItsWatchesAreLost(String statement) throws Exception {
    String table = NODE.table("p int PRIMARY KEY, v int, w int");
    session().execute("INSERT INTO %s (p, v, w) VALUES (1, 1, 1)".formatted(table));
    long begin = Asked.now(session(), table);
    String select = "SELECT CHANGES FROM %s WHERE p = 1".formatted(table);
    CompletableFuture<Asked> waiting =
        session()
            .executeAsync("%s AFTER %d WITHIN 60000 MILLISECONDS".formatted(select, begin))
            .thenApply(result -> Asked.of(result.currentPage()))
            .toCompletableFuture();
    session().execute(statement.replace("$t", table));
    Asked lost = waiting.get(30, TimeUnit.SECONDS);
    assertThat(lost.isLost()).isTrue();
    assertThat(Asked.of(session(), select, begin, 0).isLost()).isTrue();
    while (lost.isLost()) { // It may come twice.
      lost = Asked.of(session(), select, lost.position(), 0);
    }
    session().execute("INSERT INTO %s (p, v) VALUES (1, 2)".formatted(table));
    assertThat(Asked.of(session(), select, lost.position(), SOON_MILLIS).changes()).hasSize(1);
  }

  /** Each of his positions is from another moment of the TRUNCATE. */
  @Test
  void whenSomebodyAsksAllTheTimeThenHeHearsOfEachTruncate() throws Exception {
    String table = NODE.table("p int PRIMARY KEY, v int");
    AtomicInteger lost = new AtomicInteger();
    AtomicBoolean isOver = new AtomicBoolean();
    CompletableFuture<Void> asking =
        CompletableFuture.runAsync(
            () -> {
              long position = Asked.now(session(), table);
              while (!isOver.get()) {
                Asked asked = Asked.of(session(), "SELECT CHANGES FROM " + table, position, 1);
                lost.addAndGet(asked.isLost() ? 1 : 0);
                position = asked.position();
              }
            });
    try {
      for (int i = 0; i < TRUNCATES; i++) {
        session().execute("INSERT INTO %s (p, v) VALUES (1, 1)".formatted(table));
        int before = lost.get();
        session().execute("TRUNCATE " + table);
        Await.until("it is lost", () -> lost.get() > before || asking.isDone());
      }
    } finally {
      isOver.set(true);
    }
    asking.get(SOON_MILLIS, TimeUnit.MILLISECONDS);
  }

  @Test
  void whenATableIsAlteredThenItsWatchesGoOn() throws Exception {
    String table = NODE.table("p int PRIMARY KEY, v int");
    CompletableFuture<Asked> waiting = waiting(table, Asked.now(session(), table));
    session().execute("ALTER TABLE %s ADD w int".formatted(table));
    session().execute("INSERT INTO %s (p, w) VALUES (1, 1)".formatted(table));
    assertThat(waiting.get(30, TimeUnit.SECONDS).changes()).hasSize(1);
  }

  private static CompletableFuture<Asked> waiting(String table, long after) {
    return session()
        .executeAsync(
            "SELECT CHANGES FROM %s AFTER %d WITHIN 60000 MILLISECONDS".formatted(table, after))
        .thenApply(result -> Asked.of(result.currentPage()))
        .toCompletableFuture();
  }

  @Test
  void whenATableIsPlainForAWhileThenItsWatchesEndAndThenAreLost() {
    String table = NODE.table("p int PRIMARY KEY, v int");
    long begin = Asked.now(session(), table);
    CompletableFuture<Asked> waiting = waiting(table, begin);
    session().execute("DISABLE TRANSACTIONS ON " + table);
    assertRefused(
        ErrorCode.NOT_TRANSACTIONAL,
        () -> {
          try {
            waiting.get(30, TimeUnit.SECONDS);
          } catch (ExecutionException e) {
            throw e.getCause();
          }
        });
    session().execute("INSERT INTO %s (p, v) VALUES (1, 1)".formatted(table));
    session().execute("ENABLE TRANSACTIONS ON " + table);
    assertThat(Asked.of(session(), "SELECT CHANGES FROM " + table, begin, 0).isLost()).isTrue();
  }

  @Test
  void whenALiteralLooksLikeACommentOrAnotherColumnLikeAWordThenNothingIsMistaken() {
    String table = NODE.table("p text PRIMARY KEY, v int");
    String plain = NODE.plainTable("p int PRIMARY KEY, changes int, after int");
    for (String key : List.of("a/*b*/c", "http://x", "-- x AFTER 5", "it''s")) {
      long begin = Asked.now(session(), table);
      session().execute("INSERT INTO %s (p, v) VALUES ('%s', 1)".formatted(table, key));
      String select = "SELECT CHANGES FROM %s WHERE p = '%s'".formatted(table, key);
      assertThat(Asked.of(session(), select, begin, SOON_MILLIS).changes()).as(key).hasSize(1);
    }
    assertThat(
            session()
                .execute("SELECT changes FROM %s WHERE after = 3 ALLOW FILTERING".formatted(plain)))
        .isEmpty();
  }

  @Test
  void whenItIsWrongThenItIsRefusedAndSaysWhy() {
    String select = "SELECT CHANGES FROM %s WHERE p = 1".formatted(TABLE);
    String plain = NODE.plainTable("p int PRIMARY KEY, changes int");
    assertRefused(
        ErrorCode.NOT_TRANSACTIONAL,
        () -> session().execute("SELECT CHANGES FROM %s AFTER NOW".formatted(plain)));
    session().execute("INSERT INTO %s (p, changes) VALUES (1, 7)".formatted(plain));
    assertThat(session().execute("SELECT CHANGES FROM " + plain).one().getInt(0)).isEqualTo(7);
    assertThatThrownBy(() -> session().execute(select + " AFTER NOW WITHIN 5 SECONDS"))
        .isInstanceOf(SyntaxError.class)
        .hasMessageContaining("AFTER {NOW");
    assertThatThrownBy(() -> session().execute(select + " AFTER NOW WITHIN 60001 MILLISECONDS"))
        .isInstanceOf(InvalidQueryException.class)
        .hasMessageContaining("60000");
    assertThatThrownBy(
            () -> session().execute("SELECT CHANGES FROM systests.none WHERE p = 1 AFTER NOW"))
        .isInstanceOf(InvalidQueryException.class);
    assertThatThrownBy(
            () ->
                session().execute("SELECT CHANGES FROM %s WHERE v = 1 AFTER NOW".formatted(TABLE)))
        .hasMessageContaining("ALLOW FILTERING");
    try (Transaction tx = NODE.isolde().begin()) {
      tx.execute("UPDATE %s SET v = 7 WHERE p = 60 AND c = 1".formatted(TABLE));
      assertRefused(ErrorCode.INVALID_REQUEST, () -> tx.execute(select + " AFTER NOW"));
      tx.commit();
    }
  }

  /** What a listener of the Java client hears. */
  private static final class Heard implements WatchListener {
    private final BlockingQueue<String> events = new LinkedBlockingQueue<>();
    private volatile boolean isToFail;

    @Override
    public void changed(long commitTimestamp) {
      if (isToFail) {
        throw new IllegalStateException("as it is to");
      }
      events.add("changed");
    }

    @Override
    public void lost(long position) {
      events.add("lost");
    }

    @Override
    public void failed(Throwable error) {
      events.add("failed " + error.getMessage());
    }

    private String next() throws InterruptedException {
      return String.valueOf(events.poll(30, TimeUnit.SECONDS));
    }
  }

  @Test
  void whenTheClientWatchesThenItHearsOfAllUntilItIsClosed() throws Exception {
    String table = NODE.table("p int PRIMARY KEY, v int");
    String insert = "INSERT INTO %s (p, v) VALUES (1, 1)".formatted(table);
    Heard heard = new Heard();
    long begin = Asked.now(session(), table);
    Watch watch =
        NODE.isolde()
            .watch(
                "SELECT CHANGES FROM %s WHERE p = ?".formatted(table),
                List.of(1),
                OptionalLong.of(begin),
                heard);
    for (int i = 0; i < 3; i++) {
      session().execute(insert);
    }
    for (int i = 0; i < 3; i++) {
      assertThat(heard.next()).isEqualTo("changed");
    }
    session().execute("TRUNCATE " + table);
    assertThat(heard.next()).isEqualTo("lost");
    session().execute(insert);
    assertThat(heard.next()).isEqualTo("changed");
    heard.isToFail = true;
    OptionalLong before = watch.position();
    session().execute(insert);
    assertThat(heard.next()).startsWith("failed");
    assertThat(watch.isOpen()).isFalse();
    heard.isToFail = false;
    Watch again =
        NODE.isolde().watch("SELECT CHANGES FROM " + table, List.of(), watch.position(), heard);
    assertThat(watch.position().getAsLong()).isGreaterThanOrEqualTo(before.getAsLong());
    assertThat(heard.next()).isEqualTo("changed");
    again.close();
    session().execute(insert);
    assertThat(heard.events.poll(1, TimeUnit.SECONDS)).isNull();
  }

  @Test
  void whenTheClientsStatementIsRefusedThenTheWatchFails() throws Exception {
    Heard heard = new Heard();
    Watch watch = NODE.isolde().watch("SELECT CHANGES FROM systests.none", List.of(), heard);
    assertThat(heard.next()).startsWith("failed").contains("none");
    Await.until("it is closed", () -> !watch.isOpen());
  }
}
