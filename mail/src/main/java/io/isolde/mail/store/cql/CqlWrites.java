// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.cql;

import com.datastax.oss.driver.api.core.cql.BoundStatement;
import io.isolde.mail.store.Delivered;
import io.isolde.mail.store.DeliveryId;
import io.isolde.mail.store.MailboxChange;
import io.isolde.mail.store.MailboxChanges;
import io.isolde.mail.store.MailboxWrites;
import io.isolde.mail.store.MessageFacts;
import io.isolde.mail.store.NamedMailbox;
import io.isolde.mail.store.NewMessage;
import io.isolde.mail.store.Numbers;
import io.isolde.mail.store.StoredFlags;
import io.isolde.mail.store.StoredMessage;
import io.isolde.mail.store.Uids;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** What a change writes, in whichever way it is written. */
abstract class CqlWrites implements MailboxWrites {
  /** A change that takes longer is not waited for. */
  private static final long MAX_WAIT_MILLIS = TimeUnit.SECONDS.toMillis(1);

  final MailTables tables;
  private final JoinedDeliveries deliveries = new JoinedDeliveries(this::list, MAX_WAIT_MILLIS);

  CqlWrites(MailTables tables) {
    this.tables = tables;
  }

  @Override
  public final StoredMessage deliver(
      UUID mailbox, MessageFacts facts, StoredFlags flags, Instant saved) {
    return deliver(mailbox, new NewMessage(Optional.empty(), facts, flags, saved));
  }

  @Override
  public final StoredMessage deliverOnce(
      UUID mailbox, DeliveryId id, MessageFacts facts, StoredFlags flags, Instant saved) {
    return deliver(mailbox, new NewMessage(Optional.of(id), facts, flags, saved));
  }

  /** A message with keywords can be large, so it is listed alone. */
  private StoredMessage deliver(UUID mailbox, NewMessage delivery) {
    return delivery.flags().keywords().isEmpty()
        ? deliveries.deliver(mailbox, delivery)
        : list(mailbox, List.of(delivery)).get(0).get();
  }

  /** Lists messages in one change; each answer is a message, or throws what one alone would. */
  List<Supplier<StoredMessage>> list(UUID mailbox, List<NewMessage> deliveries) {
    Uids entries =
        new Uids.Entries(deliveries.stream().flatMap(each -> each.id().stream()).toList());
    return change(mailbox, entries, view -> MailboxChanges.deliverAll(view, deliveries));
  }

  /** Returns whether a change writes anything. */
  static boolean writes(Numbers before, MailboxChange<?> change) {
    return !before.equals(change.after())
        || !change.listed().isEmpty()
        || !change.flagged().isEmpty()
        || !change.removed().isEmpty();
  }

  /** In the partition of the mailbox, without the numbers. */
  List<BoundStatement> rows(UUID mailbox, Numbers before, MailboxChange<?> change) {
    List<BoundStatement> statements = new ArrayList<>();
    Set<String> keywords = new HashSet<>(change.after().keywords());
    keywords.removeAll(before.keywords());
    if (!keywords.isEmpty()) {
      statements.add(tables.addKeywords(mailbox, keywords));
    }
    for (StoredMessage message : change.listed()) {
      statements.add(tables.insert(mailbox, message));
    }
    change.delivered().forEach(entry -> statements.add(remember(mailbox, entry)));
    for (StoredMessage message : change.flagged()) {
      statements.add(tables.flag(mailbox, message));
    }
    for (StoredMessage message : change.removed()) {
      statements.add(tables.remove(mailbox, message));
    }
    return statements;
  }

  /** For a message that is delivered now. */
  BoundStatement remember(UUID mailbox, Delivered entry) {
    return tables.remember(mailbox, entry);
  }

  /** Where the listed messages are from now on. */
  List<BoundStatement> placed(UUID mailbox, MailboxChange<?> change) {
    return change.listed().stream().map(message -> tables.place(mailbox, message)).toList();
  }

  /** Where the removed messages are no more. */
  List<BoundStatement> unplaced(UUID mailbox, MailboxChange<?> change) {
    return change.removed().stream().map(message -> tables.unplace(mailbox, message)).toList();
  }

  /** For users who get a right: whom a mailbox is shared with. */
  List<BoundStatement> shares(NamedMailbox from, NamedMailbox to) {
    Set<String> users = new HashSet<>(to.rights().keySet());
    users.removeAll(from.rights().keySet());
    return tables.share(users, to.id());
  }

  /** For users who lose all their rights. */
  List<BoundStatement> unshares(NamedMailbox from, NamedMailbox to) {
    Set<String> users = new HashSet<>(from.rights().keySet());
    users.removeAll(to.rights().keySet());
    return tables.unshare(users, from.id());
  }
}
