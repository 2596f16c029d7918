// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.cql;

import com.datastax.oss.driver.api.core.cql.BoundStatement;
import com.datastax.oss.driver.api.core.cql.Row;
import io.isolde.mail.store.Delivered;
import io.isolde.mail.store.MailboxView;
import io.isolde.mail.store.Name;
import io.isolde.mail.store.NamedMailbox;
import io.isolde.mail.store.NoMailboxException;
import io.isolde.mail.store.Numbers;
import io.isolde.mail.store.StoredMessage;
import io.isolde.mail.store.Uids;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/** What is in the mailboxes. */
public final class MailboxReads {
  private final MailTables tables;
  private final MailRequests requests;

  MailboxReads(MailTables tables, MailRequests requests) {
    this.tables = tables;
    this.requests = requests;
  }

  /** A message, and the mailbox that it is in. */
  public record Place(UUID mailbox, StoredMessage message) {}

  /** The mailbox of a name. */
  public Optional<NamedMailbox> named(Name name) {
    return Optional.ofNullable(requests.read(tables.name(name)).one()).map(MailTables::named);
  }

  /** All mailboxes that a user owns, page by page. */
  public Stream<NamedMailbox> ownedBy(String user) {
    return rows(tables.namesOfUser(user)).map(MailTables::named);
  }

  /** All mailboxes, page by page. Reads the whole table. */
  public Stream<NamedMailbox> all() {
    return rows(tables.names()).map(MailTables::named);
  }

  /** The mailbox of an id. */
  public Optional<NamedMailbox> mailbox(UUID id) {
    Row row = requests.read(tables.numbers(id)).one();
    if (MailTables.numbers(row).isEmpty()) {
      return Optional.empty();
    }
    Name hint = MailTables.hint(row);
    Optional<NamedMailbox> there = named(hint).filter(mailbox -> mailbox.id().equals(id));
    if (there.isPresent()) {
      return there;
    }
    // It was renamed just now, or whoever renamed it died before writing the hint.
    return ownedBy(hint.user()).filter(mailbox -> mailbox.id().equals(id)).findFirst();
  }

  /** Mailboxes that were once shared with a user. The rights of each say whether they still are. */
  public List<NamedMailbox> sharedWith(String user) {
    return rows(tables.shared(user))
        .flatMap(row -> mailbox(row.getUuid("mailbox_id")).stream())
        .toList();
  }

  /** The numbers of a mailbox. */
  public Optional<Numbers> numbers(UUID mailbox) {
    return MailTables.numbers(requests.read(tables.numbers(mailbox)).one());
  }

  /** The messages of a mailbox by ascending UID, page by page. */
  public Iterator<StoredMessage> messages(UUID mailbox, Uids.Range range) {
    return rows(tables.range(mailbox, range.first(), range.last()))
        .flatMap(row -> MailTables.message(row).stream())
        .iterator();
  }

  /** A message. */
  public Optional<StoredMessage> message(UUID mailbox, long uid) {
    return Optional.ofNullable(requests.read(tables.range(mailbox, uid, uid)).one())
        .flatMap(MailTables::message);
  }

  /**
   * Whether a message has an entry, whose message may be about to be listed. One read: a message
   * that moves meanwhile has its new entry before it loses the old one.
   */
  boolean isPlaced(UUID messageId) {
    return requests.read(tables.places(messageId)).one() != null;
  }

  /** A row of places. Its message may not be listed yet, or never be. */
  record Entry(UUID mailbox, long uid) {}

  /** All entries of a message. */
  Set<Entry> entries(UUID messageId) {
    return rows(tables.places(messageId))
        .map(row -> new Entry(row.getUuid("mailbox_id"), row.getLong("uid")))
        .collect(Collectors.toSet());
  }

  /**
   * Where a message is listed, or will be by a change that somebody has left half done: as a change
   * does, this reads the numbers of the mailboxes first, and so finishes it.
   */
  List<Place> placesForGood(UUID messageId) {
    entries(messageId)
        .forEach(entry -> requests.readNumbers(tables.numbers(entry.mailbox())).one());
    return places(messageId);
  }

  /** Where a message is listed. An entry that a crash left behind does not count here. */
  public List<Place> places(UUID messageId) {
    return rows(tables.places(messageId)).flatMap(row -> place(messageId, row).stream()).toList();
  }

  private Optional<Place> place(UUID messageId, Row row) {
    UUID mailbox = row.getUuid("mailbox_id");
    return message(mailbox, row.getLong("uid"))
        .filter(message -> message.facts().messageId().equals(messageId))
        .map(message -> new Place(mailbox, message));
  }

  /** A means of reading, outside of a transaction or in one. */
  interface Means {
    Iterable<Row> read(BoundStatement statement);
  }

  /** What a change is decided by: the numbers first, then the messages. */
  MailboxView view(UUID mailbox, Uids read) {
    return view(mailbox, read, requests::readNumbers, requests::read);
  }

  /** As {@link #view(UUID, Uids)}, by any means of reading. */
  MailboxView view(UUID mailbox, Uids read, Means ofNumbers, Means ofMessages) {
    Iterator<Row> rows =
        ofNumbers
            .read(
                read instanceof Uids.Entries entries
                    ? tables.numbers(mailbox, entries.ids())
                    : tables.numbers(mailbox))
            .iterator();
    Numbers numbers =
        MailTables.numbers(rows.hasNext() ? rows.next() : null)
            .orElseThrow(() -> new NoMailboxException(mailbox));
    List<Delivered> delivered = new ArrayList<>();
    rows.forEachRemaining(row -> delivered.add(MailTables.delivered(row)));
    return new MailboxView(numbers, select(mailbox, read, ofMessages), delivered);
  }

  /** The messages that a change asks for, by any means of reading. */
  List<StoredMessage> select(UUID mailbox, Uids read, Means means) {
    if (read.equals(Uids.NONE) || read instanceof Uids.Entries) {
      return List.of();
    }
    BoundStatement statement =
        read instanceof Uids.Range range
            ? tables.range(mailbox, range.first(), range.last())
            : tables.those(mailbox, ((Uids.Those) read).uids());
    List<StoredMessage> messages = new ArrayList<>();
    for (Row row : means.read(statement)) {
      MailTables.message(row).ifPresent(messages::add);
    }
    return messages;
  }

  private Stream<Row> rows(BoundStatement statement) {
    return StreamSupport.stream(requests.read(statement).spliterator(), false);
  }
}
