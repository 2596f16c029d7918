// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.cql;

import com.datastax.oss.driver.api.core.cql.BoundStatement;
import io.isolde.mail.store.MailboxChange;
import io.isolde.mail.store.MailboxChanges;
import io.isolde.mail.store.MailboxView;
import io.isolde.mail.store.NamedMailbox;
import io.isolde.mail.store.NoMessageException;
import io.isolde.mail.store.Numbers;
import io.isolde.mail.store.StoredFlags;
import io.isolde.mail.store.StoredMessage;
import io.isolde.mail.store.Uids;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;

/**
 * Each partition is written by itself, in an order in which a crash between two of them loses no
 * message: a place before its message is listed, and after it is removed; a copy before the
 * original goes. So whoever has removed a place, and then finds none, may remove the content.
 */
abstract class SeparateWrites extends CqlWrites {
  private final MailboxLocks locks = new MailboxLocks();
  final MailboxReads reads;
  final MailRequests requests;

  SeparateWrites(MailTables tables, MailboxReads reads, MailRequests requests) {
    super(tables);
    this.reads = reads;
    this.requests = requests;
  }

  /** Writes the partition of a mailbox. Returns false if it has changed and nothing was written. */
  abstract boolean write(UUID mailbox, Numbers before, Numbers after, List<BoundStatement> rows);

  /** Waits before a mailbox that has changed is read again, or gives up. */
  abstract void pauseAfter(int attempts, long startNanos);

  @Override
  public <T> T change(UUID mailbox, Uids read, Function<MailboxView, MailboxChange<T>> decision) {
    return change(mailbox, read, decision, () -> {});
  }

  /**
   * @param check made when the places of messages are known, and before these are listed
   */
  private <T> T change(
      UUID mailbox, Uids read, Function<MailboxView, MailboxChange<T>> decision, Runnable check) {
    return locks.alone(
        mailbox,
        () -> {
          long startNanos = System.nanoTime();
          for (int attempt = 1; ; attempt++) {
            MailboxView view = reads.view(mailbox, read);
            MailboxChange<T> change = decision.apply(view);
            if (attempt(mailbox, view.numbers(), change, check)) {
              return change.answer();
            }
            pauseAfter(attempt, startNanos);
          }
        });
  }

  private boolean attempt(UUID mailbox, Numbers before, MailboxChange<?> change, Runnable check) {
    if (!writes(before, change)) {
      return true;
    }
    requests.write(placed(mailbox, change));
    try {
      check.run();
    } catch (NoMessageException e) {
      requests.write(placesTakenBack(mailbox, change));
      throw e;
    }
    if (write(mailbox, before, change.after(), rows(mailbox, before, change))) {
      requests.write(unplaced(mailbox, change));
      return true;
    }
    // Another message has these UIDs now.
    requests.write(placesTakenBack(mailbox, change));
    return false;
  }

  /** For what was placed and is not listed after all. */
  private List<BoundStatement> placesTakenBack(UUID mailbox, MailboxChange<?> change) {
    return change.listed().stream().map(message -> tables.unplace(mailbox, message)).toList();
  }

  @Override
  public StoredMessage copy(UUID from, long uid, UUID to, StoredFlags flags, Instant saved) {
    StoredMessage original =
        reads.message(from, uid).orElseThrow(() -> new NoMessageException(uid));
    return change(
        to,
        Uids.NONE,
        view -> MailboxChanges.deliver(view, original.facts(), flags, saved),
        () -> requireListed(from, original));
  }

  /** While it is listed nobody has removed its content, and from then on its new place protects. */
  private void requireListed(UUID mailbox, StoredMessage message) {
    if (reads
        .message(mailbox, message.uid())
        .filter(found -> found.facts().equals(message.facts()))
        .isEmpty()) {
      throw new NoMessageException(message.uid());
    }
  }

  @Override
  public StoredMessage move(UUID from, long uid, UUID to, StoredFlags flags, Instant saved) {
    StoredMessage moved = copy(from, uid, to, flags, saved);
    List<StoredMessage> unused =
        change(from, new Uids.Those(List.of(uid)), MailboxChanges::expunge);
    return moved;
  }

  @Override
  public boolean create(NamedMailbox mailbox) {
    return locks.alone(
        mailbox.name(),
        () -> {
          start(mailbox);
          if (takeName(mailbox)) {
            return true;
          }
          requests.write(List.of(tables.drop(mailbox.id())));
          return false;
        });
  }

  @Override
  public boolean rename(NamedMailbox from, NamedMailbox to) {
    return locks.alone(
        to.name(),
        () -> {
          if (!changeName(from, to)) {
            return false;
          }
          requests.write(List.of(tables.hint(to)));
          return true;
        });
  }

  @Override
  public boolean changeRights(NamedMailbox from, NamedMailbox to) {
    return locks.alone(
        from.name(),
        () -> {
          requests.write(shares(from, to));
          if (!setRights(from, to)) {
            return false;
          }
          requests.write(unshares(from, to));
          return true;
        });
  }

  @Override
  public boolean delete(NamedMailbox mailbox) {
    return locks.alone(
        mailbox.name(),
        () -> {
          if (!freeName(mailbox)) {
            return false;
          }
          stop(mailbox.id());
          List<BoundStatement> rest = new ArrayList<>();
          rest.add(tables.drop(mailbox.id()));
          rest.addAll(tables.unshare(mailbox.rights().keySet(), mailbox.id()));
          requests.write(rest);
          return true;
        });
  }

  /** Makes the numbers of a mailbox, under an id that nobody knows yet. */
  abstract void start(NamedMailbox mailbox);

  /** Lets no further message into a mailbox. */
  abstract void stop(UUID mailbox);

  abstract boolean takeName(NamedMailbox mailbox);

  abstract boolean freeName(NamedMailbox mailbox);

  abstract boolean changeName(NamedMailbox from, NamedMailbox to);

  abstract boolean setRights(NamedMailbox from, NamedMailbox to);
}
