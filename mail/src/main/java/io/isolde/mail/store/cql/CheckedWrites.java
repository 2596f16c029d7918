// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.cql;

import com.datastax.oss.driver.api.core.DriverTimeoutException;
import com.datastax.oss.driver.api.core.cql.BoundStatement;
import io.isolde.mail.store.NamedMailbox;
import io.isolde.mail.store.Numbers;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Each change of a mailbox is a batch of its partition, on the condition that its numbers are as
 * they were read: entries of a log in a strong keyspace, lightweight transactions elsewhere.
 */
class CheckedWrites extends SeparateWrites {
  private static final long MAX_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final long FIRST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

  /** At most 128 ms. */
  private static final int MAX_DOUBLINGS = 6;

  CheckedWrites(MailTables tables, MailboxReads reads, MailRequests requests) {
    super(tables, reads, requests);
  }

  @Override
  boolean write(UUID mailbox, Numbers before, Numbers after, List<BoundStatement> rows) {
    List<BoundStatement> statements = new ArrayList<>();
    statements.add(tables.setNumbersIf(mailbox, before, after));
    statements.addAll(rows);
    return requests.batch(statements);
  }

  @Override
  void pauseAfter(int attempts, long startNanos) {
    if (System.nanoTime() - startNanos > MAX_NANOS) {
      throw new DriverTimeoutException("Too many others change this mailbox. Try again.");
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
