// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.killed;

import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.DefaultConsistencyLevel;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import io.isolde.cluster.LocalCluster;
import io.isolde.cluster.LocalNode;
import io.isolde.cluster.NodeSpec;
import io.isolde.mail.MailConsistency;
import io.isolde.mail.server.MailStorage;
import io.isolde.mail.store.cql.ContentSweep;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Mail servers and nodes are killed, as by kill -9, while clients send: each message is in each
 * inbox once, and all numbers are right. {@code -Disolde.mail.messages=20000
 * -Disolde.mail.kills=20} sends more.
 */
class KilledServersTest {
  private static final int MESSAGES = Integer.getInteger("isolde.mail.messages", 200);

  private enum Fault {
    BOTH,
    SERVER,
    NODE
  }

  /** Of faults, in turns. */
  private static final int KILLS = Integer.getInteger("isolde.mail.kills", 1);

  private static final int CONNECTIONS = 6;
  private static final int USERS = Math.max(3, MESSAGES / 1_000);
  private static final int MAX_SHOWN = 10;
  private static final String PASSWORD = "correct horse";
  private static final Duration PATIENCE = Duration.ofMinutes(3);

  private static LocalCluster cluster;

  @TempDir static Path folder;

  private final List<String> users =
      IntStream.range(0, USERS).mapToObj("user%d@isolde.test"::formatted).toList();
  private final List<MailServerProcess> servers = new ArrayList<>();

  @BeforeAll
  static void startNodes() {
    Path nodes = Path.of("target/clusters/killed-mail");
    LocalCluster.removeIfPresent(nodes);
    cluster =
        LocalCluster.create(
            nodes,
            3,
            NodeSpec.standard()
                .withAddress("127.0.9.1")
                .withEphemeral(true)
                .withJvmOption("-XX:TieredStopAtLevel=1")
                .withJvmOption("-XX:-UseG1GC")
                .withJvmOption("-XX:+UseSerialGC")
                .withSystemProperty("cassandra.approximate_time_precision_ms", "10"));
    cluster.start();
    cluster.awaitMembership(PATIENCE);
  }

  @AfterAll
  static void removeNodes() {
    cluster.remove();
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "QUORUM")
  void whenServersAndNodesAreKilledThenEachMessageIsThereOnceAndAllNumbersAreRight(
      MailConsistency store) throws Exception {
    assertThat(problemsUnderKills(store)).isEmpty();
  }

  private static Void startServer(MailServerProcess server) throws Exception {
    server.start();
    return null;
  }

  /** How much this store loses is luck; {@code docs/mail.md} has what a long run showed. */
  @Test
  void whenServersReadAndThenWriteThenTheInboxesCanStillBeRead() throws Exception {
    assertThat(problemsUnderKills(MailConsistency.QUORUM))
        .noneMatch(problem -> problem.contains("never sent"));
  }

  private List<String> problemsUnderKills(MailConsistency store) throws Exception {
    String keyspace = "killed_" + store.name().toLowerCase(Locale.ROOT);
    List<Future<?>> starts = new ArrayList<>();
    ExecutorService starter = Executors.newFixedThreadPool(2);
    for (int i = 0; i < 2; i++) {
      MailServerProcess server =
          new MailServerProcess(
              folder.resolve(keyspace + i), cluster.contactPoints(), keyspace, store);
      servers.add(server);
      starts.add(starter.submit(() -> startServer(server))); // At once: each creates the tables.
    }
    starter.shutdown();
    for (Future<?> start : starts) {
      start.get();
    }
    addUsers(keyspace, store);
    ExecutorService killer = Executors.newSingleThreadExecutor();
    try {
      long start = System.nanoTime();
      Senders senders = new Senders(servers, users, MESSAGES, PATIENCE.toSeconds() + MESSAGES / 10);
      Future<?> killing = killer.submit(() -> killWhileSending(senders));
      List<Senders.Sent> sent = senders.send(CONNECTIONS);
      long nanos = System.nanoTime() - start;
      var unused = killing.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      assertThat(sent).hasSize(MESSAGES);
      List<String> problems = new ArrayList<>();
      int listed = 0;
      for (String user : users) {
        ListedInbox inbox = ListedInbox.read(servers.get(0).imapPort(), user, PASSWORD);
        listed += inbox.size();
        problems.addAll(inbox.problems(sent));
      }
      int removed = sweep(keyspace, store);
      long stored = storedHeaders(keyspace);
      if (stored != listed) {
        problems.add("%d headers are stored, and %d messages listed".formatted(stored, listed));
      }
      System.out.printf(
          "%s: %d messages, %d in inboxes, %d attempts repeated, %d kills, %d s; %d times content"
              + " that nobody lists; %d problems %s%n",
          store,
          sent.size(),
          listed,
          senders.repeated(),
          KILLS,
          TimeUnit.NANOSECONDS.toSeconds(nanos),
          removed,
          problems.size(),
          problems.subList(0, Math.min(MAX_SHOWN, problems.size())));
      return problems;
    } finally {
      killer.shutdownNow();
      for (MailServerProcess server : servers) {
        server.kill();
      }
    }
  }

  /** Nobody delivers any more, so nothing is too young. */
  private static int sweep(String keyspace, MailConsistency store) throws InterruptedException {
    try (MailStorage storage =
        MailStorage.open(place(keyspace, store), "isolde.test", MailServerProcess.CHEAP)) {
      ContentSweep sweep = storage.contentSweep();
      return sweep.remove(sweep.find(Instant.now().plusSeconds(60)));
    }
  }

  private static long storedHeaders(String keyspace) {
    try (CqlSession session =
        CqlSession.builder()
            .addContactPoints(cluster.contactPoints())
            .withLocalDatacenter("datacenter1")
            .build()) {
      long count = 0;
      for (Row unused :
          session.execute(
              SimpleStatement.newInstance("SELECT message_id FROM %s.headers".formatted(keyspace))
                  .setTimeout(PATIENCE)
                  .setConsistencyLevel(DefaultConsistencyLevel.QUORUM))) {
        count++;
      }
      return count;
    }
  }

  private static MailStorage.Place place(String keyspace, MailConsistency store) {
    return new MailStorage.Place(cluster.contactPoints(), Optional.empty(), "", keyspace, store);
  }

  private void addUsers(String keyspace, MailConsistency store) {
    try (MailStorage storage =
        MailStorage.open(place(keyspace, store), "isolde.test", MailServerProcess.CHEAP)) {
      for (String user : users) {
        assertThat(storage.users().add(user, PASSWORD)).isTrue();
      }
    }
  }

  /**
   * Kills a server and a node, then a server, then a node, and so on, while messages come: as many
   * as until the next kill.
   */
  private Void killWhileSending(Senders senders) throws Exception {
    for (int i = 0; i < KILLS; i++) {
      senders.mayAnswer(dueAt(i + 1));
      while (senders.answered() < dueAt(i)) {
        Thread.sleep(5);
      }
      MailServerProcess server = servers.get(i % servers.size());
      LocalNode node = cluster.node(1 + i / 2 % cluster.nodes().size());
      Fault fault = Fault.values()[i % Fault.values().length];
      if (fault != Fault.SERVER) {
        node.kill();
      }
      if (fault != Fault.NODE) {
        server.kill();
        server.start(); // while the node is away
      }
      if (fault != Fault.SERVER) {
        node.start();
        cluster.awaitMembership(PATIENCE);
      }
    }
    return null;
  }

  /** How many messages are answered when a kill is due; with the last number, all. */
  private static int dueAt(int kill) {
    return (int) ((long) MESSAGES * (kill + 1) / (KILLS + 1));
  }
}
