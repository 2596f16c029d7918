// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.cql;

import com.datastax.oss.driver.api.core.DriverException;
import com.datastax.oss.driver.api.core.DriverTimeoutException;
import com.datastax.oss.driver.api.core.cql.BoundStatement;
import io.isolde.mail.store.MailboxChange;
import io.isolde.mail.store.MailboxChanges;
import io.isolde.mail.store.MailboxView;
import io.isolde.mail.store.NamedMailbox;
import io.isolde.mail.store.NoMessageException;
import io.isolde.mail.store.NotChangedException;
import io.isolde.mail.store.Numbers;
import io.isolde.mail.store.StoredFlags;
import io.isolde.mail.store.StoredMessage;
import io.isolde.mail.store.Uids;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;

/**
 * Each partition is written by itself, in an order in which a crash between two of them loses no
 * message: a place before its message is listed, and after it is removed; a copy before the
 * original goes. So whoever has removed a place, and then finds none, may remove the content.
 */
abstract class SeparateWrites extends CqlWrites {
  final MailboxLocks locks = new MailboxLocks();
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
    return change(mailbox, read, decision, Optional.empty());
  }

  /**
   * @param checkOfCopy for a message that is listed elsewhere, too: made when its place is known,
   *     and before it is listed
   */
  private <T> T change(
      UUID mailbox,
      Uids read,
      Function<MailboxView, MailboxChange<T>> decision,
      Optional<Runnable> checkOfCopy) {
    return locks.alone(
        mailbox,
        () -> {
          long startNanos = System.nanoTime();
          for (int attempt = 1; ; attempt++) {
            MailboxView view = reads.view(mailbox, read);
            MailboxChange<T> change = decision.apply(view);
            if (attempt(mailbox, view.numbers(), change, checkOfCopy)) {
              return change.answer();
            }
            pauseAfter(attempt, startNanos);
          }
        });
  }

  /**
   * The place of a copy that is not listed after all stays. Another server may have copied the same
   * message to the same UID, and then it is the place of that copy.
   */
  boolean attempt(
      UUID mailbox, Numbers before, MailboxChange<?> change, Optional<Runnable> checkOfCopy) {
    if (!writes(before, change)) {
      return true;
    }
    try {
      requests.write(placed(mailbox, change));
    } catch (DriverException e) {
      throw new NotChangedException(e);
    }
    checkOfCopy.ifPresent(Runnable::run);
    if (write(mailbox, before, change.after(), rows(mailbox, before, change))) {
      requests.write(unplaced(mailbox, change));
      return true;
    }
    if (checkOfCopy.isEmpty()) {
      // Another message has these UIDs now.
      requests.write(placesTakenBack(mailbox, change));
    }
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
        Optional.of(() -> requireListed(from, original)));
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
    boolean isRemoved;
    try {
      isRemoved = !change(from, new Uids.Those(List.of(uid)), MailboxChanges::expunge).isEmpty();
    } catch (NotChangedException e) {
      takeBack(to, moved);
      throw e;
    }
    if (!isRemoved && isListedTwice(to, moved)) { // Somebody else has moved it meanwhile.
      takeBack(to, moved);
      throw new NoMessageException(uid);
    }
    return moved;
  }

  private boolean isListedTwice(UUID mailbox, StoredMessage message) {
    return reads.places(message.facts().messageId()).stream()
        .filter(place -> place.mailbox().equals(mailbox))
        .anyMatch(place -> place.message().uid() != message.uid());
  }

  private void takeBack(UUID mailbox, StoredMessage copy) {
    try {
      List<StoredMessage> unused =
          change(mailbox, new Uids.Those(List.of(copy.uid())), MailboxChanges::expunge);
    } catch (NotChangedException e) {
      throw new DriverTimeoutException("A message that was to be moved is in both mailboxes now.");
    }
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
