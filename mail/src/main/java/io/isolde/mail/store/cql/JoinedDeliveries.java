// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.cql;

import com.datastax.oss.driver.api.core.DriverException;
import io.isolde.mail.store.NewMessage;
import io.isolde.mail.store.NotChangedException;
import io.isolde.mail.store.StoredMessage;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Deliveries that wait for the same mailbox are listed in one change, as a group commit. Else each
 * would wait for all those before it, or be refused by conflicts. This is of one process only.
 *
 * <p>No thread works for others for long: whoever comes while a delivery is under way waits. Then
 * one of those who wait lists its own delivery with those of the others, and so on. If the one
 * under way takes long, the next one does not wait for it: the store keeps changes apart.
 */
final class JoinedDeliveries {
  /** Of one change. */
  static final int MAX_JOINED = 64;

  /** Of one mailbox. Each has a thread, so there are seldom as many. */
  private static final int MAX_WAITING = 1_024;

  /** Lists messages in one change; each answer is a message, or throws what one alone would. */
  interface Listing {
    List<Supplier<StoredMessage>> list(UUID mailbox, List<NewMessage> deliveries);
  }

  /** The answer is empty for the one whose turn it is to list. */
  private record Waiting(
      NewMessage delivery, CompletableFuture<Optional<Supplier<StoredMessage>>> answer) {}

  private final Listing listing;
  private final long maxWaitMillis;

  /** A mailbox is in it while a delivery is under way, with those who wait. */
  private final ConcurrentMap<UUID, Deque<Waiting>> busy = new ConcurrentHashMap<>();

  /**
   * @param maxWaitMillis how long a delivery waits for the one that is under way
   */
  JoinedDeliveries(Listing listing, long maxWaitMillis) {
    this.listing = listing;
    this.maxWaitMillis = maxWaitMillis;
  }

  /**
   * Lists a message.
   *
   * @throws NotChangedException if too many others are before it
   */
  StoredMessage deliver(UUID mailbox, NewMessage delivery) {
    Waiting mine = new Waiting(delivery, new CompletableFuture<>());
    busy.compute(mailbox, (any, waiting) -> queued(mine, waiting));
    return await(mailbox, mine).orElseGet(() -> list(mailbox, mine)).get();
  }

  private static Deque<Waiting> queued(Waiting mine, Deque<Waiting> waiting) {
    if (waiting == null) {
      mine.answer().complete(Optional.empty());
      return new ArrayDeque<>();
    }
    if (waiting.size() >= MAX_WAITING) {
      throw new NotChangedException();
    }
    waiting.add(mine);
    return waiting;
  }

  private Optional<Supplier<StoredMessage>> await(UUID mailbox, Waiting mine) {
    try {
      return mine.answer().copy().orTimeout(maxWaitMillis, TimeUnit.MILLISECONDS).join();
    } catch (CompletionException late) {
      if (isWithdrawn(mailbox, mine)) {
        return Optional.empty();
      }
      return mine.answer().join(); // It is being listed, which the driver's time-outs bound.
    }
  }

  private boolean isWithdrawn(UUID mailbox, Waiting mine) {
    boolean[] isWithdrawn = new boolean[1];
    busy.computeIfPresent(
        mailbox,
        (any, waiting) -> {
          isWithdrawn[0] = waiting.remove(mine);
          return waiting;
        });
    return isWithdrawn[0];
  }

  private Supplier<StoredMessage> list(UUID mailbox, Waiting mine) {
    List<Waiting> joined = new ArrayList<>();
    try {
      joined.add(mine);
      takeOthers(mailbox, joined);
      List<Supplier<StoredMessage>> answers = list(mailbox, joined);
      for (int i = 0; i < joined.size(); i++) {
        joined.get(i).answer().complete(Optional.of(answers.get(i)));
      }
      return answers.get(0);
    } finally {
      // Whatever happened: whoever still waits would wait for ever.
      Supplier<StoredMessage> failed = JoinedDeliveries::failed;
      joined.forEach(each -> each.answer().complete(Optional.of(failed)));
      busy.computeIfPresent(mailbox, (any, waiting) -> passOn(waiting));
    }
  }

  /**
   * If something failed, and it is certain that nothing was changed, each tries by itself, in its
   * own thread. Where the mailbox is too busy for one change, that would not help.
   */
  private List<Supplier<StoredMessage>> list(UUID mailbox, List<Waiting> joined) {
    List<NewMessage> deliveries = joined.stream().map(Waiting::delivery).toList();
    try {
      List<Supplier<StoredMessage>> answers = listing.list(mailbox, deliveries);
      assert answers.size() == joined.size();
      return answers;
    } catch (NotChangedException e) {
      boolean isWorthwhile = e.getCause() != null && joined.size() > 1;
      return deliveries.stream()
          .map(each -> isWorthwhile ? alone(mailbox, each) : refused(e))
          .toList();
    } catch (RuntimeException e) {
      Supplier<StoredMessage> failed = () -> rethrow(e);
      return joined.stream().map(any -> failed).toList();
    }
  }

  private Supplier<StoredMessage> alone(UUID mailbox, NewMessage delivery) {
    return () -> listing.list(mailbox, List.of(delivery)).get(0).get();
  }

  private static Supplier<StoredMessage> refused(NotChangedException refusal) {
    return () -> {
      throw refusal;
    };
  }

  private void takeOthers(UUID mailbox, List<Waiting> joined) {
    busy.computeIfPresent(
        mailbox,
        (any, waiting) -> {
          while (joined.size() < MAX_JOINED && !waiting.isEmpty()) {
            joined.add(waiting.remove());
          }
          return waiting;
        });
  }

  private static Deque<Waiting> passOn(Deque<Waiting> waiting) {
    Waiting next = waiting.poll();
    if (next == null) {
      return null;
    }
    next.answer().complete(Optional.empty());
    return waiting;
  }

  /** Each thread gets a stack trace of its own, where that is possible. */
  private static StoredMessage rethrow(RuntimeException failure) {
    throw failure instanceof DriverException error ? error.copy() : failure;
  }

  private static StoredMessage failed() {
    throw new IllegalStateException("The thread that listed this message has ended.");
  }

  /** How many wait for a mailbox. */
  int waiting(UUID mailbox) {
    int[] waiting = new int[1];
    busy.computeIfPresent(
        mailbox,
        (any, queue) -> {
          waiting[0] = queue.size();
          return queue;
        });
    return waiting[0];
  }

  /** Whether nothing is under way. */
  boolean isIdle() {
    return busy.isEmpty();
  }
}
