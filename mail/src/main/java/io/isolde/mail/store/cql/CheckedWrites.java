// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.cql;

import com.datastax.oss.driver.api.core.cql.BoundStatement;
import io.isolde.mail.store.Delivered;
import io.isolde.mail.store.MailboxChange;
import io.isolde.mail.store.MailboxChanges;
import io.isolde.mail.store.MailboxView;
import io.isolde.mail.store.NamedMailbox;
import io.isolde.mail.store.NewMessage;
import io.isolde.mail.store.NotChangedException;
import io.isolde.mail.store.Numbers;
import io.isolde.mail.store.StoredMessage;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * Each change of a mailbox is a batch of its partition, on the condition that its numbers are as
 * they were read: entries of a log in a strong keyspace, lightweight transactions elsewhere.
 */
class CheckedWrites extends SeparateWrites {
  private static final long MAX_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final long FIRST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

  /** At most 128 ms. */
  private static final int MAX_DOUBLINGS = 6;

  private final KnownNumbers known = new KnownNumbers();

  CheckedWrites(MailTables tables, MailboxReads reads, MailRequests requests) {
    super(tables, reads, requests);
  }

  /**
   * Without a look at the mailbox, where its numbers are probably still those that this server has
   * written last: what is written has conditions for all that a look would show.
   */
  @Override
  List<Supplier<StoredMessage>> list(UUID mailbox, List<NewMessage> deliveries) {
    return locks.alone(
        mailbox,
        () -> {
          Optional<Numbers> before = known.of(mailbox);
          if (before.isPresent()) {
            MailboxView view = new MailboxView(before.get(), List.of(), List.of());
            MailboxChange<List<Supplier<StoredMessage>>> change =
                MailboxChanges.deliverAll(view, deliveries);
            if (attempt(mailbox, before.get(), change, Optional.empty())) {
              return change.answer();
            }
          }
          return super.list(mailbox, deliveries);
        });
  }

  @Override
  BoundStatement remember(UUID mailbox, Delivered entry) {
    return tables.rememberIf(mailbox, entry);
  }

  @Override
  boolean write(UUID mailbox, Numbers before, Numbers after, List<BoundStatement> rows) {
    List<BoundStatement> statements = new ArrayList<>();
    statements.add(tables.setNumbersIf(mailbox, before, after));
    statements.addAll(rows);
    known.forget(mailbox); // If the batch throws, nobody knows them.
    boolean isWritten = requests.batch(statements);
    if (isWritten) {
      known.are(mailbox, after);
    }
    return isWritten;
  }

  @Override
  void pauseAfter(int attempts, long startNanos) {
    if (System.nanoTime() - startNanos > MAX_NANOS) {
      throw new NotChangedException();
    }
    long most = FIRST_PAUSE_NANOS << Math.min(attempts - 1, MAX_DOUBLINGS);
    LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(most) + 1);
  }

  @Override
  void start(NamedMailbox mailbox) {
    // As a condition, so that it has a timestamp from the same source as all later ones.
    if (!requests.batch(List.of(tables.startIf(mailbox)))) {
      throw new IllegalStateException(
          "The id %s of a new mailbox is taken.".formatted(mailbox.id()));
    }
  }

  @Override
  void stop(UUID mailbox) {
    boolean unused = requests.batch(List.of(tables.stopIf(mailbox)));
  }

  @Override
  boolean takeName(NamedMailbox mailbox) {
    return requests.batch(List.of(tables.takeNameIf(mailbox)));
  }

  @Override
  boolean freeName(NamedMailbox mailbox) {
    return requests.batch(List.of(tables.freeNameIf(mailbox)));
  }

  /** At once if one user owns both names. Else both are there for a moment. */
  @Override
  boolean changeName(NamedMailbox from, NamedMailbox to) {
    if (from.name().user().equals(to.name().user())) {
      return requests.batch(List.of(tables.takeNameIf(to), tables.freeNameIf(from)));
    }
    return takeName(to) && freeName(from);
  }

  @Override
  boolean setRights(NamedMailbox from, NamedMailbox to) {
    return requests.batch(List.of(tables.setRightsIf(from, to)));
  }
}
