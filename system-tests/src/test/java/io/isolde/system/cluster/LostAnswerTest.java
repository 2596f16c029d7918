// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.metadata.Node;
import io.isolde.client.CommitResult;
import io.isolde.client.Isolde;
import io.isolde.client.IsoldeException;
import io.isolde.client.Outcome;
import io.isolde.client.Transaction;
import io.isolde.client.TransactionOptions;
import io.isolde.cluster.LocalCluster;
import io.isolde.cluster.LocalNode;
import io.isolde.cluster.NodeSpec;
import io.isolde.system.NodeLogs;
import io.isolde.system.ShortLived;
import io.isolde.system.TestFork;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;

/** The node that holds a transaction dies, freezes or falls silent, and the client finds out. */
@ExtendWith(NodeLogs.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class LostAnswerTest {
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  /** Of what is lost; what is not lost must come in time also on a busy machine. */
  private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(5);

  private static final TransactionOptions OPTIONS =
      TransactionOptions.builder().timeLimit(PATIENCE).maxAttempts(200).build();

  /** Of the commits that are looked at: settled after 20 seconds if they have to be. */
  private static final TransactionOptions MEMBERSHIP_WAIT =
      OPTIONS.toBuilder().timeLimit(Duration.ofSeconds(40)).build();

  private final Map<InetSocketAddress, MutableLink> links = new HashMap<>();
  private final AtomicInteger keys = new AtomicInteger();
  private LocalCluster cluster;
  private CqlSession direct;
  private CqlSession session;

  @BeforeAll
  void startCluster() {
    Path folder = TestFork.clusters().resolve("lost-answer");
    LocalCluster.removeIfPresent(folder);
    NodeSpec first = ShortLived.nodeAt("127.0.43.1");
    cluster = LocalCluster.create(folder, 3, first);
    cluster.start();
    direct = connect(Duration.ofSeconds(20));
    direct.execute(
        "CREATE KEYSPACE k WITH replication ="
            + " {'class': 'SimpleStrategy', 'replication_factor': 3}");
    cluster.awaitSchemaAgreement(LocalNode.START_BOUND);
    direct.execute("CREATE TABLE k.t (id int PRIMARY KEY, v int, l list<int>)");
    cluster.awaitSchemaAgreement(LocalNode.START_BOUND);
    direct.execute("ENABLE TRANSACTIONS ON k.t");
    cluster.awaitSchemaAgreement(LocalNode.START_BOUND);
  }

  @AfterEach
  void restore() throws IOException {
    if (session != null) {
      session.close();
    }
    for (MutableLink link : links.values()) {
      link.close();
    }
    links.clear();
    cluster.start();
  }

  @AfterAll
  void removeCluster() {
    if (direct != null) {
      direct.close();
    }
    if (cluster != null) {
      cluster.remove();
    }
  }

  @Test
  void whenTheAnswerIsLostAndItsNodeDiesThenAnotherNodeTellsThatItIsCommitted() throws Exception {
    connectByLinks();
    int key = keys.incrementAndGet();
    Transaction tx = Isolde.on(session).begin(MEMBERSHIP_WAIT);
    Node holder = insert(tx, key);
    link(holder).mute();

    CompletableFuture<CommitResult> commit = tx.commitAsync().toCompletableFuture();
    awaitRow(key);
    process(holder).kill();

    assertThat(commit.get().committed()).isTrue();
    assertThat(commit.get().commitTimestamp()).hasValue(writeTime(key));
  }

  @Test
  void whenTheAnswersOfALivingNodeAreLostThenAnotherNodeTellsThatItIsCommitted() throws Exception {
    connectByLinks();
    int key = keys.incrementAndGet();
    Transaction tx = Isolde.on(session).begin(MEMBERSHIP_WAIT);
    link(insert(tx, key)).mute();

    assertThat(tx.commit().commitTimestamp()).hasValue(writeTime(key));
  }

  @Test
  void whenTheAnswersToTheLastWritesAreLostThenTheyAreWrittenOnce() throws Exception {
    connectByLinks();
    int key = keys.incrementAndGet();
    Transaction tx = Isolde.on(session).begin(MEMBERSHIP_WAIT);
    MutableLink link = link(insert(tx, key));
    tx.write("UPDATE k.t SET l = l + ? WHERE id = ?", List.of(7), key);
    link.mute();

    assertThat(tx.commit().commitTimestamp()).hasValue(writeTime(key));
    assertThat(
            Isolde.on(direct)
                .<List<Integer>, RuntimeException>run(
                    OPTIONS,
                    check ->
                        check
                            .execute("SELECT l FROM k.t WHERE id = ?", key)
                            .one()
                            .getList("l", Integer.class)))
        .containsExactly(7);
  }

  @Test
  void whenTheNodeFreezesBeforeCommitAndWakesUpLaterThenItTellsTheTruth() throws Exception {
    session = connect(ANSWER_TIMEOUT);
    int key = keys.incrementAndGet();
    Transaction tx = Isolde.on(session).begin(MEMBERSHIP_WAIT);
    LocalNode holder = process(insert(tx, key));
    holder.pause();
    CompletableFuture<CommitResult> commit = tx.commitAsync().toCompletableFuture();
    try {
      awaitAnotherCommit();
    } finally {
      holder.resume();
    }

    try {
      assertThat(commit.get().commitTimestamp()).hasValue(writeTime(key));
    } catch (ExecutionException e) {
      assertThat(e.getCause()).isInstanceOf(IsoldeException.class);
      assertThat(((IsoldeException) e.getCause()).outcome()).isEqualTo(Outcome.NOT_COMMITTED);
      assertThat(hasRow(key)).isFalse();
    }
  }

  @Test
  void whenCommitNeverArrivesThenItIsMadeSureThatNothingIsCommitted() throws Exception {
    connectByLinks();
    int key = keys.incrementAndGet();
    Transaction tx = Isolde.on(session).begin(MEMBERSHIP_WAIT);
    LocalNode holder = process(insert(tx, key));
    holder.pause(); // the kernel takes the request, and nobody reads it
    CompletableFuture<CommitResult> commit = tx.commitAsync().toCompletableFuture();
    awaitAnotherCommit();
    holder.kill();

    assertThatThrownBy(commit::get)
        .cause()
        .isInstanceOfSatisfying(
            IsoldeException.class,
            error -> {
              assertThat(error.outcome()).isEqualTo(Outcome.NOT_COMMITTED);
              assertThat(error.isRetryable()).isTrue();
            });
    assertThat(hasRow(key)).isFalse();
  }

  @Test
  void whenTheNodeDiesBeforeCommitThenTheWorkIsDoneOnAnotherOne() {
    session = connect(ANSWER_TIMEOUT);
    int key = keys.incrementAndGet();
    AtomicInteger runs = new AtomicInteger();

    Isolde.on(session)
        .runVoid(
            OPTIONS,
            tx -> {
              Node holder = insert(tx, key);
              if (runs.incrementAndGet() == 1) {
                process(holder).kill();
              }
            });

    assertThat(runs.get()).isGreaterThan(1);
    assertThat(hasRow(key)).isTrue();
  }

  /** The others go on without the one that is frozen, and its lease is over when they do. */
  private void awaitAnotherCommit() {
    Isolde.on(direct).runVoid(OPTIONS, tx -> insert(tx, keys.incrementAndGet()));
  }

  private static Node insert(Transaction tx, int key) {
    return tx.execute("INSERT INTO k.t (id, v) VALUES (?, 1)", key)
        .getExecutionInfo()
        .getCoordinator();
  }

  private void awaitRow(int key) throws InterruptedException {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (!hasRow(key)) {
      assertThat(System.nanoTime()).as("the commit is seen in time").isLessThan(deadline);
      Thread.sleep(20);
    }
  }

  private boolean hasRow(int key) {
    return Isolde.on(direct)
        .run(
            OPTIONS.toBuilder().readOnly(true).build(),
            tx -> tx.execute("SELECT v FROM k.t WHERE id = ?", key).one() != null);
  }

  /**
   * In a transaction: else a node reads the newest snapshot it has heard of, and one just slept.
   */
  private long writeTime(int key) {
    return Isolde.on(direct)
        .run(
            OPTIONS.toBuilder().readOnly(true).build(),
            tx -> tx.execute("SELECT writetime(v) FROM k.t WHERE id = ?", key).one().getLong(0));
  }

  private void connectByLinks() throws IOException {
    for (InetSocketAddress node : cluster.contactPoints()) {
      links.put(node, new MutableLink(node));
    }
    session = connect(ANSWER_TIMEOUT);
  }

  private MutableLink link(Node node) {
    return links.get(process(node).contactPoint());
  }

  private LocalNode process(Node node) {
    return cluster.nodes().stream().filter(each -> isAt(each, node)).findFirst().orElseThrow();
  }

  private static boolean isAt(LocalNode process, Node node) {
    return node.getBroadcastRpcAddress()
        .map(InetSocketAddress::getAddress)
        .filter(process.contactPoint().getAddress()::equals)
        .isPresent();
  }

  private CqlSession connect(Duration requestTimeout) {
    return CqlSession.builder()
        .addContactPoints(links.isEmpty() ? cluster.contactPoints() : linkAddresses())
        .withLocalDatacenter("datacenter1")
        .withConfigLoader(
            DriverConfigLoader.programmaticBuilder()
                .withClass(
                    DefaultDriverOption.ADDRESS_TRANSLATOR_CLASS, MutableLink.Translator.class)
                .withDuration(DefaultDriverOption.REQUEST_TIMEOUT, requestTimeout)
                .withDuration(
                    DefaultDriverOption.CONNECTION_INIT_QUERY_TIMEOUT, Duration.ofSeconds(20))
                .withDuration(
                    DefaultDriverOption.CONTROL_CONNECTION_TIMEOUT, Duration.ofSeconds(20))
                .withDuration(DefaultDriverOption.RECONNECTION_BASE_DELAY, Duration.ofMillis(200))
                .withDuration(DefaultDriverOption.RECONNECTION_MAX_DELAY, Duration.ofSeconds(2))
                .build())
        .build();
  }

  private List<InetSocketAddress> linkAddresses() {
    return links.values().stream().map(MutableLink::address).toList();
  }
}
