// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.cql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.datastax.oss.driver.api.core.DriverTimeoutException;
import io.isolde.mail.store.MessageFacts;
import io.isolde.mail.store.NewMessage;
import io.isolde.mail.store.NotChangedException;
import io.isolde.mail.store.StoredFlags;
import io.isolde.mail.store.StoredMessage;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class JoinedDeliveriesTest {
  private static final UUID MAILBOX = UUID.randomUUID();
  private static final long LONG_MILLIS = 50_000;

  /** Enough for all that a test lets wait. */
  private final ExecutorService threads =
      Executors.newFixedThreadPool(3 * JoinedDeliveries.MAX_JOINED);

  /** Each change needs one of these. */
  private final Semaphore permits = new Semaphore(0);

  private final Semaphore started = new Semaphore(0);
  private final ConcurrentLinkedQueue<List<NewMessage>> changes = new ConcurrentLinkedQueue<>();

  @AfterEach
  void stop() {
    threads.shutdownNow();
  }

  private static NewMessage message() {
    UUID id = UUID.randomUUID();
    return new NewMessage(
        Optional.empty(),
        new MessageFacts(id, id, Instant.EPOCH, 10, 5),
        new StoredFlags(0, Set.of()),
        Instant.EPOCH);
  }

  /** Numbers messages by their place in the change. */
  private static List<Supplier<StoredMessage>> listed(List<NewMessage> deliveries) {
    List<Supplier<StoredMessage>> answers = new ArrayList<>();
    for (NewMessage each : deliveries) {
      long uid = answers.size() + 1L;
      answers.add(() -> new StoredMessage(uid, uid, each.flags(), each.saved(), each.facts()));
    }
    return answers;
  }

  private List<Supplier<StoredMessage>> whenPermitted(UUID mailbox, List<NewMessage> deliveries) {
    changes.add(deliveries);
    started.release();
    permits.acquireUninterruptibly();
    return listed(deliveries);
  }

  private CompletableFuture<StoredMessage> send(
      JoinedDeliveries to, UUID mailbox, NewMessage what) {
    return CompletableFuture.supplyAsync(() -> to.deliver(mailbox, what), threads);
  }

  /** So many who wait, in any order. */
  private List<CompletableFuture<StoredMessage>> send(JoinedDeliveries to, int count)
      throws InterruptedException {
    List<CompletableFuture<StoredMessage>> sent = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      sent.add(send(to, MAILBOX, message()));
    }
    while (to.waiting(MAILBOX) < count) {
      Thread.sleep(1);
    }
    return sent;
  }

  @Test
  void whenOneIsUnderWayThenThoseThatCameMeanwhileAreOneChange() throws Exception {
    JoinedDeliveries deliveries = new JoinedDeliveries(this::whenPermitted, LONG_MILLIS);
    CompletableFuture<StoredMessage> first = send(deliveries, MAILBOX, message());
    started.acquire();
    List<CompletableFuture<StoredMessage>> others = send(deliveries, 5);
    permits.release(2);
    assertThat(first.join().uid()).isEqualTo(1);
    assertThat(others)
        .extracting(sent -> sent.join().uid())
        .containsExactlyInAnyOrder(1L, 2L, 3L, 4L, 5L);
    assertThat(changes).extracting(List::size).containsExactly(1, 5);
    assertThat(deliveries.isIdle()).isTrue();
  }

  @Test
  void whenMoreWaitThanOneChangeMayHaveThenTheRestIsTheNext() throws Exception {
    JoinedDeliveries deliveries = new JoinedDeliveries(this::whenPermitted, LONG_MILLIS);
    CompletableFuture<StoredMessage> first = send(deliveries, MAILBOX, message());
    started.acquire();
    List<CompletableFuture<StoredMessage>> others =
        send(deliveries, JoinedDeliveries.MAX_JOINED + 3);
    permits.release(3);
    assertThat(first.join().uid()).isEqualTo(1);
    others.forEach(CompletableFuture::join);
    assertThat(changes).extracting(List::size).containsExactly(1, JoinedDeliveries.MAX_JOINED, 3);
  }

  @Test
  void whenAnotherMailboxIsBusyThenNobodyWaitsForIt() throws Exception {
    JoinedDeliveries deliveries = new JoinedDeliveries(this::whenPermitted, LONG_MILLIS);
    CompletableFuture<StoredMessage> first = send(deliveries, MAILBOX, message());
    CompletableFuture<StoredMessage> other = send(deliveries, UUID.randomUUID(), message());
    started.acquire(2);
    permits.release(2);
    assertThat(first.join().uid()).isEqualTo(1);
    assertThat(other.join().uid()).isEqualTo(1);
  }

  /** The second change is made, and then fails. */
  private JoinedDeliveries failingAtSecond(Runnable failure) {
    AtomicInteger calls = new AtomicInteger();
    return new JoinedDeliveries(
        (mailbox, joined) -> {
          List<Supplier<StoredMessage>> answers = whenPermitted(mailbox, joined);
          if (calls.incrementAndGet() == 2) {
            failure.run();
          }
          return answers;
        },
        LONG_MILLIS);
  }

  @Test
  void whenAChangeFailsThenAllOfItsDeliveriesFailAndTheNextGoOn() throws Exception {
    JoinedDeliveries deliveries =
        failingAtSecond(
            () -> {
              throw new DriverTimeoutException("planted");
            });
    CompletableFuture<StoredMessage> first = send(deliveries, MAILBOX, message());
    started.acquire();
    List<CompletableFuture<StoredMessage>> others = send(deliveries, 3);
    permits.release();
    started.acquire();
    List<CompletableFuture<StoredMessage>> last = send(deliveries, 2);
    permits.release(2);
    assertThat(first.join().uid()).isEqualTo(1);
    for (CompletableFuture<StoredMessage> each : others) {
      assertThatThrownBy(each::join).hasMessageContaining("planted");
    }
    assertThat(last).extracting(sent -> sent.join().uid()).containsExactlyInAnyOrder(1L, 2L);
    assertThat(deliveries.isIdle()).isTrue();
  }

  @Test
  void whenOneOfAChangeIsRefusedThenTheOthersAreListed() throws Exception {
    JoinedDeliveries deliveries =
        new JoinedDeliveries(
            (mailbox, joined) -> {
              List<Supplier<StoredMessage>> answers =
                  new ArrayList<>(whenPermitted(mailbox, joined));
              if (joined.size() > 1) {
                answers.set(
                    1,
                    () -> {
                      throw new IllegalStateException("as if it came before");
                    });
              }
              return answers;
            },
            LONG_MILLIS);
    CompletableFuture<StoredMessage> first = send(deliveries, MAILBOX, message());
    started.acquire();
    List<CompletableFuture<StoredMessage>> others = send(deliveries, 3);
    permits.release(2);
    assertThat(first.join().uid()).isEqualTo(1);
    long failed = 0;
    for (CompletableFuture<StoredMessage> each : others) {
      failed += each.handle((message, error) -> error == null ? 0 : 1).join();
    }
    assertThat(failed).isEqualTo(1);
  }

  @Test
  void whenTheOneUnderWayTakesLongThenTheNextDoesNotWaitForIt() throws Exception {
    JoinedDeliveries deliveries = new JoinedDeliveries(this::whenPermitted, 20);
    CompletableFuture<StoredMessage> first = send(deliveries, MAILBOX, message());
    started.acquire();
    CompletableFuture<StoredMessage> next = send(deliveries, MAILBOX, message());
    started.acquire();
    assertThat(first).isNotDone();
    permits.release(2);
    assertThat(first.join().uid()).isEqualTo(1);
    assertThat(next.join().uid()).isEqualTo(1);
    assertThat(changes).extracting(List::size).containsExactly(1, 1);
    assertThat(deliveries.isIdle()).isTrue();
  }

  @Test
  void whenAChangeOfManyChangedNothingThenEachTriesByItself() throws Exception {
    JoinedDeliveries deliveries =
        new JoinedDeliveries(
            (mailbox, joined) -> {
              List<Supplier<StoredMessage>> answers = whenPermitted(mailbox, joined);
              if (joined.size() > 1) {
                throw new NotChangedException(new DriverTimeoutException("planted"));
              }
              return answers;
            },
            LONG_MILLIS);
    CompletableFuture<StoredMessage> first = send(deliveries, MAILBOX, message());
    started.acquire();
    List<CompletableFuture<StoredMessage>> others = send(deliveries, 3);
    permits.release(5);
    assertThat(first.join().uid()).isEqualTo(1);
    assertThat(others).extracting(sent -> sent.join().uid()).containsExactly(1L, 1L, 1L);
    assertThat(changes).extracting(List::size).containsExactly(1, 3, 1, 1, 1);
    assertThat(deliveries.isIdle()).isTrue();
  }

  @Test
  void whenAMailboxIsTooBusyForOneChangeThenNobodyTriesAgain() throws Exception {
    JoinedDeliveries deliveries =
        new JoinedDeliveries(
            (mailbox, joined) -> {
              List<Supplier<StoredMessage>> answers = whenPermitted(mailbox, joined);
              if (joined.size() > 1) {
                throw new NotChangedException();
              }
              return answers;
            },
            LONG_MILLIS);
    CompletableFuture<StoredMessage> first = send(deliveries, MAILBOX, message());
    started.acquire();
    List<CompletableFuture<StoredMessage>> others = send(deliveries, 3);
    permits.release(2);
    assertThat(first.join().uid()).isEqualTo(1);
    for (CompletableFuture<StoredMessage> each : others) {
      assertThatThrownBy(each::join).hasCauseInstanceOf(NotChangedException.class);
    }
    assertThat(changes).extracting(List::size).containsExactly(1, 3);
  }

  @Test
  void whenOneAloneChangedNothingThenItFails() {
    JoinedDeliveries deliveries =
        new JoinedDeliveries(
            (mailbox, joined) -> {
              throw new NotChangedException();
            },
            LONG_MILLIS);
    assertThatThrownBy(() -> deliveries.deliver(MAILBOX, message()))
        .isInstanceOf(NotChangedException.class);
    assertThat(deliveries.isIdle()).isTrue();
  }

  @Test
  void whenTheThreadThatListsDiesThenNobodyWaitsForIt() throws Exception {
    JoinedDeliveries deliveries =
        failingAtSecond(
            () -> {
              throw new StackOverflowError("planted");
            });
    CompletableFuture<StoredMessage> first = send(deliveries, MAILBOX, message());
    started.acquire();
    List<CompletableFuture<StoredMessage>> others = send(deliveries, 3);
    permits.release(2);
    assertThat(first.join().uid()).isEqualTo(1);
    for (CompletableFuture<StoredMessage> each : others) {
      assertThat(each.handle((done, error) -> error).join()).isNotNull();
    }
    assertThat(deliveries.isIdle()).isTrue();
  }

  @Test
  void whenManyThreadsDeliverToFewMailboxesThenEachMessageIsListedOnce() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    List<UUID> mailboxes = List.of(UUID.randomUUID(), UUID.randomUUID(), UUID.randomUUID());
    ConcurrentLinkedQueue<UUID> listed = new ConcurrentLinkedQueue<>();
    Set<UUID> underWay = ConcurrentHashMap.newKeySet();
    JoinedDeliveries deliveries =
        new JoinedDeliveries(
            (mailbox, joined) -> {
              assertThat(underWay.add(mailbox)).as("one change at a time").isTrue();
              joined.forEach(each -> listed.add(each.facts().messageId()));
              underWay.remove(mailbox);
              return listed(joined);
            },
            LONG_MILLIS);
    List<UUID> sent = new ArrayList<>();
    List<CompletableFuture<StoredMessage>> answers = new ArrayList<>();
    for (int i = 0; i < 5_000; i++) {
      NewMessage message = message();
      sent.add(message.facts().messageId());
      answers.add(send(deliveries, mailboxes.get(random.nextInt(mailboxes.size())), message));
    }
    for (int i = 0; i < sent.size(); i++) {
      assertThat(answers.get(i).join().facts().messageId())
          .as("seed %d", seed)
          .isEqualTo(sent.get(i));
    }
    assertThat(listed).as("seed %d", seed).containsExactlyInAnyOrderElementsOf(sent);
    assertThat(deliveries.isIdle()).isTrue();
  }
}
