// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.cql;

import com.datastax.oss.driver.api.core.cql.BoundStatement;
import io.isolde.mail.store.NamedMailbox;
import io.isolde.mail.store.Numbers;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * Each change reads a mailbox at QUORUM, and then writes its partition as a batch at QUORUM. Locks
 * of this process keep its changes apart; those of two processes overwrite each other.
 */
class ReadThenWrite extends SeparateWrites {
  ReadThenWrite(MailTables tables, MailboxReads reads, MailRequests requests) {
    super(tables, reads, requests);
  }

  @Override
  boolean write(UUID mailbox, Numbers before, Numbers after, List<BoundStatement> rows) {
    List<BoundStatement> statements = new ArrayList<>();
    statements.add(tables.setNumbers(mailbox, after));
    statements.addAll(rows);
    boolean unused = requests.batch(statements);
    return true;
  }

  @Override
  void pauseAfter(int attempts, long startNanos) {
    throw new AssertionError("A write without a condition needs one attempt.");
  }

  @Override
  void start(NamedMailbox mailbox) {
    requests.write(List.of(tables.start(mailbox)));
  }

  @Override
  void stop(UUID mailbox) {
    // Nothing could hold back a write that has read the numbers before.
  }

  @Override
  boolean takeName(NamedMailbox mailbox) {
    if (reads.named(mailbox.name()).isPresent()) {
      return false;
    }
    requests.write(List.of(tables.takeName(mailbox)));
    return true;
  }

  @Override
  boolean freeName(NamedMailbox mailbox) {
    if (!isThere(mailbox)) {
      return false;
    }
    requests.write(List.of(tables.freeName(mailbox)));
    return true;
  }

  @Override
  boolean changeName(NamedMailbox from, NamedMailbox to) {
    if (reads.named(to.name()).isPresent() || !isThere(from)) {
      return false;
    }
    requests.write(List.of(tables.takeName(to)));
    requests.write(List.of(tables.freeName(from)));
    return true;
  }

  @Override
  boolean setRights(NamedMailbox from, NamedMailbox to) {
    if (!reads.named(from.name()).equals(Optional.of(from))) {
      return false;
    }
    requests.write(List.of(tables.setRights(to)));
    return true;
  }

  private boolean isThere(NamedMailbox mailbox) {
    return reads.named(mailbox.name()).filter(found -> found.id().equals(mailbox.id())).isPresent();
  }
}
