// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.pushing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.Row;
import com.fasterxml.jackson.databind.JsonNode;
import io.isolde.client.Isolde;
import io.isolde.client.PushOptions;
import io.isolde.client.Watch;
import io.isolde.client.WatchListener;
import io.isolde.system.Await;
import io.isolde.system.SystemNode;
import java.net.http.HttpClient;
import java.net.http.WebSocketHandshakeException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.stream.IntStream;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The port on which a node pushes changes, as any client sees it, and as ours does. */
class PushTest {
  private static final String TABLE = "systests.pushed";
  private static final String ADDRESS = "127.0.31.9";
  private static final String PORT = ADDRESS + ":7314";
  private static final String SELECT = "SELECT CHANGES FROM " + TABLE;
  private static final int MANY = 200;

  private static Path keystore;
  private static SystemNode node;
  private static CqlSession admin;

  @BeforeAll
  static void startNodeWithUsers() throws Exception {
    keystore = Certificates.keystore(ADDRESS);
    node =
        SystemNode.start(
            "push",
            ADDRESS,
            spec ->
                spec.withIsoldeSetting("push_port", "7314")
                    .withCassandraSetting(
                        "client_encryption_options",
                        "{enabled: true, optional: true, keystore: %s, keystore_password: %s}"
                            .formatted(keystore, Certificates.PASSWORD))
                    .withCassandraSetting("authenticator", "PasswordAuthenticator")
                    .withCassandraSetting("authorizer", "CassandraAuthorizer")
                    .withCassandraSetting("permissions_validity", "0ms")
                    .withCassandraSetting("roles_validity", "0ms")
                    .withSystemProperty("cassandra.superuser_setup_delay_ms", "0")
                    .withSystemProperty("cassandra.auth_bcrypt_gensalt_log2_rounds", "4"));
    admin =
        node.connect(
            config -> config, builder -> builder.withAuthCredentials("cassandra", "cassandra"));
    admin.execute(
        "CREATE KEYSPACE systests WITH replication ="
            + " {'class': 'SimpleStrategy', 'replication_factor': 1}");
    admin.execute("CREATE TABLE %s (p int PRIMARY KEY, v int)".formatted(TABLE));
    Await.until(
        "the table is transactional",
        () -> catchThrowable(() -> admin.execute("ENABLE TRANSACTIONS ON " + TABLE)) == null);
    for (String role : List.of("reader", "stranger", "former")) {
      admin.execute("CREATE ROLE %s WITH PASSWORD = 'p' AND LOGIN = true".formatted(role));
    }
    admin.execute("GRANT SELECT ON %s TO reader".formatted(TABLE));
    admin.execute("GRANT SELECT ON %s TO former".formatted(TABLE));
  }

  @AfterAll
  static void stopNode() {
    node.close();
  }

  private static RawPush open() {
    return RawPush.open(PORT, "reader", "p");
  }

  private static void write(int p) {
    admin.execute("UPDATE %s SET v = 1 WHERE p = %d".formatted(TABLE, p));
  }

  private static List<Long> timestamps(JsonNode changes) {
    List<Long> timestamps = new ArrayList<>();
    changes.get("timestamps").forEach(each -> timestamps.add(each.asLong()));
    return timestamps;
  }

  @Test
  void whenWhatIsWatchedIsWrittenThenTheCommitsComeOnceAndInOrder() throws Exception {
    RawPush push = open();
    push.send(
        "{'type':'subscribe','id':1,'statement':'%s WHERE p = ?','values':[1]}".formatted(SELECT));
    long begin = push.next("position").get("position").asLong();
    List<Long> pushed = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      write(1);
      write(2);
      pushed.addAll(timestamps(push.next("changes")));
    }
    assertThat(pushed).hasSize(20).isSorted().doesNotHaveDuplicates();
    RawPush again = open();
    again.send(
        "{'type':'subscribe','id':9,'statement':'%s WHERE p = 1','after':%d}"
            .formatted(SELECT, begin));
    assertThat(timestamps(again.next("changes"))).isEqualTo(pushed);
    push.send("{'type':'unsubscribe','id':1}");
    again.close();
    push.close();
  }

  @Test
  void whenGroupsAreWatchedThenANewKeyspaceIsPushed() throws Exception {
    RawPush push = RawPush.open(PORT, "cassandra", "cassandra");
    push.send(
        "{'type':'subscribe','id':1,'statement':"
            + "'SELECT CHANGES FROM isolde.groups WHERE keyspace_name = ?','values':['strong']}");
    push.next("position");
    admin.execute(
        "CREATE KEYSPACE strong WITH replication ="
            + " {'class': 'ReplicatedLogStrategy', 'replication_factor': 1}");
    assertThat(timestamps(push.next("changes"))).isNotEmpty();
    push.close();
  }

  @Test
  void whenASubscriptionIsEndedThenTheOthersOfItsConnectionGoOn() throws Exception {
    RawPush push = open();
    for (int id = 1; id <= 3; id++) {
      push.send(
          "{'type':'subscribe','id':%d,'statement':'%s WHERE p = 2%d'}".formatted(id, SELECT, id));
      push.next("position");
    }
    push.send("{'type':'unsubscribe','id':1}");
    push.send("{'type':'unsubscribe','id':99}");
    push.send("{'type':'subscribe','id':4,'statement':'%s WHERE p = 24'}".formatted(SELECT));
    push.send("{'type':'unsubscribe','id':4}"); // Perhaps before it is understood.
    push.send("{'type':'subscribe','id':5,'statement':'%s WHERE p = 25'}".formatted(SELECT));
    while (push.next("position").get("id").asInt() != 5) {
      // Those of others come each five seconds. After it, the messages before it are read.
    }
    write(21);
    write(24);
    write(22);
    assertThat(push.next("changes").get("id").asInt()).isEqualTo(2);
    write(23);
    assertThat(push.next("changes").get("id").asInt()).isEqualTo(3);
    push.close();
  }

  @Test
  void whenSubscriptionsAreEndedAtOnceThenAsManyMayFollow() throws Exception {
    RawPush push = open();
    for (int id = 1; id <= 3_000; id++) {
      push.send("{'type':'subscribe','id':%d,'statement':'%s WHERE p = 7'}".formatted(id, SELECT));
      push.send("{'type':'unsubscribe','id':%d}".formatted(id));
    }
    push.send("{'type':'subscribe','id':5000,'statement':'%s WHERE p = 7'}".formatted(SELECT));
    JsonNode message;
    do {
      message = push.next("position");
    } while (message.get("id").asInt() != 5_000);
    push.close();
  }

  @Test
  void whenAHandshakeIsNoneThenItIsRefusedBeforeALogin() throws Exception {
    String right = "Host: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n";
    String key = right + "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n";
    String version = "Sec-WebSocket-Version: 13\r\n";
    assertThat(RawPush.answer(PORT, "GET /changes", right + version)).contains(" 400 ");
    assertThat(RawPush.answer(PORT, "POST /changes", key + version)).contains(" 400 ");
    assertThat(RawPush.answer(PORT, "GET /changes", key)).contains(" 426 ");
    assertThat(RawPush.answer(PORT, "GET /", key + version)).contains(" 404 ");
    assertThat(RawPush.answer(PORT, "GET /changes", key + version + "Origin: http://a\r\n"))
        .contains(" 403 ");
    assertThat(RawPush.answer(PORT, "GET /changes", key + version)).contains(" 401 ");
  }

  @Test
  void whenARoleMayNotReadWhereThePortsAreThenItsWatchAsksByItself() throws Exception {
    BlockingQueue<String> events = new LinkedBlockingQueue<>();
    WatchListener listener = listener(commit -> events.add("changed"), e -> events.add("" + e));
    try (CqlSession session =
        node.connect(config -> config, builder -> builder.withAuthCredentials("reader", "p"))) {
      Watch watch =
          Isolde.on(session)
              .withPush(PushOptions.defaults().withCredentials("reader", "p"))
              .watch(SELECT + " WHERE p = 8", List.of(), listener);
      Await.until("the watch has begun", () -> watch.position().isPresent());
      write(8);
      assertThat(events.poll(30, TimeUnit.SECONDS)).isEqualTo("changed");
      watch.close();
    }
  }

  @Test
  void whenAClientHasTlsThenItUsesIt() throws Exception {
    SSLContext trusting = Certificates.trusting(keystore);
    HttpClient http = HttpClient.newBuilder().sslContext(trusting).build();
    RawPush push = RawPush.open(http, "wss://" + PORT, "reader", "p", true);
    push.send("{'type':'subscribe','id':1,'statement':'%s WHERE p = 6'}".formatted(SELECT));
    push.next("position");
    BlockingQueue<Long> heard = new LinkedBlockingQueue<>();
    PushOptions options =
        PushOptions.defaults().withCredentials("reader", "p").withSslContext(trusting);
    Watch watch =
        Isolde.on(admin)
            .withPush(options)
            .watch(SELECT + " WHERE p = 6", List.of(), listener(heard::add, error -> {}));
    Await.until("the watch has begun", () -> watch.position().isPresent());
    write(6);
    assertThat(heard.poll(30, TimeUnit.SECONDS)).isEqualTo(timestamps(push.next("changes")).get(0));
    watch.close();
    push.close();
  }

  private static WatchListener listener(LongConsumer changed, Consumer<Throwable> failed) {
    return new WatchListener() {
      @Override
      public void changed(long commitTimestamp) {
        changed.accept(commitTimestamp);
      }

      @Override
      public void lost(long position) {
        changed.accept(-1);
      }

      @Override
      public void failed(Throwable error) {
        failed.accept(error);
      }
    };
  }

  @Test
  void whenThePasswordIsWrongThenItIsUnauthorized() {
    Throwable refused = catchThrowable(() -> RawPush.open(PORT, "reader", "wrong"));
    assertThat(refused).isInstanceOf(CompletionException.class);
    assertThat(((WebSocketHandshakeException) refused.getCause()).getResponse().statusCode())
        .isEqualTo(401);
  }

  @Test
  void whenAPermissionIsMissingOrTakenAwayThenTheSubscriptionEnds() throws Exception {
    String subscribe = "{'type':'subscribe','id':1,'statement':'%s WHERE p = 3'}".formatted(SELECT);
    RawPush stranger = RawPush.open(PORT, "stranger", "p");
    stranger.send(subscribe);
    assertThat(stranger.next("error").get("code").asText()).isEqualTo("UNAUTHORIZED");
    RawPush former = RawPush.open(PORT, "former", "p");
    former.send(subscribe);
    former.next("position");
    admin.execute("REVOKE SELECT ON %s FROM former".formatted(TABLE));
    JsonNode error = former.next("error");
    assertThat(error.get("code").asText()).isEqualTo("UNAUTHORIZED");
    assertThat(error.get("id").asInt()).isEqualTo(1);
    stranger.close();
    former.close();
  }

  @Test
  void whenAMessageIsWrongThenTheNodeSaysWhatIs() throws Exception {
    RawPush push = open();
    push.send("{'type':'subscribe','id':1,'statement':'SELECT * FROM %s'}".formatted(TABLE));
    assertThat(push.next("error").get("code").asText()).isEqualTo("INVALID_REQUEST");
    push.send("{'type':'subscribe','id':2,'statement':'%s WHERE p = ?'}".formatted(SELECT));
    assertThat(push.next("error").get("message").asText()).contains("question mark");
    push.send("{'type':'subscribe','id':3,'statement':'SELECT CHANGES FROM no.table'}");
    assertThat(push.next("error").get("id").asInt()).isEqualTo(3);
    push.send("no JSON");
    push.next("error");
    assertThat(push.closed()).isEqualTo(1007);
  }

  @Test
  void whenThereAreTooManySubscriptionsThenOneMoreIsRefusedAndTheOthersGoOn() throws Exception {
    RawPush push = open();
    for (int id = 1; id <= 1_025; id++) {
      push.send("{'type':'subscribe','id':%d,'statement':'%s WHERE p = 4'}".formatted(id, SELECT));
    }
    JsonNode refused = push.next("error");
    assertThat(refused.get("code").asText()).isEqualTo("TOO_MANY_WATCHES");
    assertThat(refused.get("id").asInt()).isEqualTo(1_025);
    Await.until("the others have begun", () -> shown("subscriptions") == 1_024);
    for (int id = 1; id <= 1_024; id++) {
      push.next("position"); // Each has a beginning.
    }
    write(4);
    for (int id = 1; id <= 1_024; id++) {
      assertThat(timestamps(push.next("changes"))).hasSize(1);
    }
    push.close();
  }

  @Test
  void whenAClientReadsSlowlyThenTheNodeHoldsLittleAndNothingIsLost() throws Exception {
    RawPush slow = RawPush.slow(PORT, "reader", "p");
    long begin = 0;
    for (Row row :
        admin.execute("SELECT CHANGES FROM %s AFTER NOW WITHIN 0 MILLISECONDS".formatted(TABLE))) {
      begin = row.getLong("timestamp");
    }
    for (int id = 1; id <= 1_000; id++) {
      slow.send(
          "{'type':'subscribe','id':%d,'statement':'%s WHERE p = 5','after':%d}"
              .formatted(id, SELECT, begin));
    }
    Await.until("all are subscribed", () -> shown("subscriptions") >= 1_000);
    for (int i = 0; i < MANY; i++) {
      write(5);
    }
    assertThat(shown("queued_bytes")).isLessThan(256 << 10);
    slow.read(Long.MAX_VALUE);
    List<Long> one = new ArrayList<>();
    while (one.size() < MANY) {
      JsonNode changes = slow.next("changes");
      if (changes.get("id").asInt() == 500) {
        one.addAll(timestamps(changes));
      }
    }
    assertThat(one).hasSize(MANY).isSorted().doesNotHaveDuplicates();
    slow.close();
  }

  private static long shown(String column) {
    long largest = 0;
    for (Row row : admin.execute("SELECT * FROM isolde.push_sessions")) {
      Object value = row.getObject(column);
      largest = Math.max(largest, value instanceof Number number ? number.longValue() : 0);
    }
    return largest;
  }

  @Test
  void whenTheJavaClientWatchesThenItHearsOfEachCommitAndEndsWithAnError() throws Exception {
    BlockingQueue<String> events = new LinkedBlockingQueue<>();
    WatchListener listener =
        listener(
            commit -> events.add(commit < 0 ? "lost" : "changed"),
            error -> events.add("failed " + error.getMessage()));
    Isolde isolde =
        Isolde.on(admin).withPush(PushOptions.defaults().withCredentials("reader", "p"));
    admin.execute("CREATE TABLE systests.dropped (p int PRIMARY KEY, v int)");
    admin.execute("ENABLE TRANSACTIONS ON systests.dropped");
    admin.execute("GRANT SELECT ON systests.dropped TO reader");
    List<Watch> watches =
        IntStream.range(10, 13)
            .mapToObj(p -> isolde.watch(SELECT + " WHERE p = ?", List.of(p), listener))
            .toList();
    Watch ending =
        isolde.watch(
            "SELECT CHANGES FROM systests.dropped", List.of(), OptionalLong.empty(), listener);
    Await.until(
        "all have begun",
        () ->
            ending.position().isPresent()
                && watches.stream().allMatch(watch -> watch.position().isPresent()));
    Await.until("all share a connection", () -> shown("subscriptions") == 4);
    for (int p = 10; p < 13; p++) {
      write(p);
      assertThat(events.poll(30, TimeUnit.SECONDS)).isEqualTo("changed");
    }
    admin.execute("TRUNCATE systests.dropped");
    assertThat(events.poll(30, TimeUnit.SECONDS)).isEqualTo("lost");
    watches.forEach(Watch::close);
    write(10);
    Await.until("one is left", () -> shown("subscriptions") == 1);
    events.clear();
    admin.execute("DROP TABLE systests.dropped");
    assertThat(events.poll(30, TimeUnit.SECONDS)).startsWith("failed");
    Await.until("the connection is closed", () -> shown("subscriptions") == 0);
  }

  @Test
  void whenThePasswordOfTheJavaClientIsWrongThenItsWatchFails() throws Exception {
    BlockingQueue<Throwable> failures = new LinkedBlockingQueue<>();
    Watch watch =
        Isolde.on(admin)
            .withPush(PushOptions.defaults().withCredentials("reader", "wrong"))
            .watch(SELECT, List.of(), listener(commit -> {}, failures::add));
    assertThat(failures.poll(30, TimeUnit.SECONDS)).hasMessageContaining("password");
    assertThat(watch.isOpen()).isFalse();
  }
}
