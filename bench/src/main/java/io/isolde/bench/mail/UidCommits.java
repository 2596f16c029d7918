// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.mail;

import io.isolde.bench.kit.Workload;
import io.isolde.cluster.ToolException;
import io.isolde.mail.store.MessageFacts;
import io.isolde.mail.store.Name;
import io.isolde.mail.store.NamedMailbox;
import io.isolde.mail.store.Numbers;
import io.isolde.mail.store.StoredFlags;
import io.isolde.mail.store.cql.MailboxStore;
import io.isolde.mail.store.james.UuidMessageId;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;

/**
 * Deliveries without their content. Each takes the next UID and modification sequence of a mailbox,
 * counts the message, and lists it.
 */
final class UidCommits implements Workload {
  private static final StoredFlags NO_FLAGS = new StoredFlags(0, Set.of());
  private static final UuidMessageId.Factory IDS = new UuidMessageId.Factory();

  private final MailboxStore store;
  private final List<UUID> mailboxes;
  private final Executor threads;
  private final LongAdder answered = new LongAdder();
  private final LongAdder failed = new LongAdder();

  private UidCommits(MailboxStore store, List<UUID> mailboxes, Executor threads) {
    this.store = store;
    this.mailboxes = mailboxes;
    this.threads = threads;
  }

  /** Deliveries to so many new mailboxes, by chance. */
  static UidCommits to(int mailboxes, MailboxStore store, Executor threads) {
    List<CompletableFuture<UUID>> creating =
        IntStream.range(0, mailboxes)
            .mapToObj(i -> CompletableFuture.supplyAsync(() -> create(store), threads))
            .toList();
    return new UidCommits(store, creating.stream().map(CompletableFuture::join).toList(), threads);
  }

  private static UUID create(MailboxStore store) {
    UUID id = UUID.randomUUID();
    Name name = new Name("uids-" + id, "#private", "INBOX");
    if (!store.writes().create(new NamedMailbox(name, id, 1, Map.of()))) {
      throw new ToolException("The name %s is taken.".formatted(name));
    }
    return id;
  }

  @Override
  public CompletionStage<?> send() {
    return CompletableFuture.runAsync(this::deliver, threads);
  }

  private void deliver() {
    UUID mailbox = mailboxes.get(ThreadLocalRandom.current().nextInt(mailboxes.size()));
    UUID message = IDS.generate().uuid();
    Instant now = Instant.now().truncatedTo(ChronoUnit.MILLIS);
    boolean isAnswered = false;
    try {
      var unused =
          store
              .writes()
              .deliver(mailbox, new MessageFacts(message, message, now, 1, 1), NO_FLAGS, now);
      isAnswered = true;
    } finally {
      (isAnswered ? answered : failed).increment();
    }
  }

  /**
   * Returns how many deliveries the mailboxes have counted too few or too many. A failed one may be
   * there or not. Nothing may be under way.
   */
  long miscounted() {
    long least = answered.sum();
    long most = least + failed.sum();
    long uids = 0;
    long wrong = 0;
    for (UUID mailbox : mailboxes) {
      Numbers numbers = store.reads().numbers(mailbox).orElseThrow();
      long given = numbers.nextUid() - 1;
      uids += given;
      wrong += Math.abs(numbers.messages() - given) + Math.abs(numbers.highestModSeq() - given);
    }
    return wrong + Math.max(0, least - uids) + Math.max(0, uids - most);
  }
}
