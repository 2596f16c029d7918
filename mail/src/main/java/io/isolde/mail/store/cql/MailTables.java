// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.cql;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.BoundStatement;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.Row;
import io.isolde.mail.store.Delivered;
import io.isolde.mail.store.DeliveryId;
import io.isolde.mail.store.MessageFacts;
import io.isolde.mail.store.Name;
import io.isolde.mail.store.NamedMailbox;
import io.isolde.mail.store.Numbers;
import io.isolde.mail.store.StoredFlags;
import io.isolde.mail.store.StoredMessage;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * Statements on what changes, and what their rows mean. Methods that end in {@code If} have a
 * condition: that nothing else changed since the read.
 */
final class MailTables {
  private static final String NAME_COLUMNS =
      "user, namespace, name, mailbox_id, uid_validity, rights";
  private static final String NUMBER_COLUMNS =
      "next_uid, highest_modseq, message_count, unseen_count, keywords";
  private static final String MESSAGE_COLUMNS =
      "uid, modseq, message_id, thread_id, system_flags, user_flags, received, saved, size_bytes,"
          + " body_start";
  private static final String DELIVERY_COLUMNS = "delivery, delivered_id, delivered_uid, modseq";

  /** Where each mailbox has a row from its creation on, before all others of the partition. */
  static final long FIRST_ROW = Long.MIN_VALUE;

  private static final String THIS_NAME = " WHERE user = ? AND namespace = ? AND name = ?";

  private final PreparedStatement name;
  private final PreparedStatement namesOfUser;
  private final PreparedStatement names;
  private final PreparedStatement takeName;
  private final PreparedStatement takeNameIf;
  private final PreparedStatement freeName;
  private final PreparedStatement freeNameIf;
  private final PreparedStatement setRights;
  private final PreparedStatement setRightsIf;
  private final PreparedStatement numbers;
  private final PreparedStatement start;
  private final PreparedStatement startIf;
  private final PreparedStatement stopIf;
  private final PreparedStatement drop;
  private final PreparedStatement hint;
  private final PreparedStatement setNumbers;
  private final PreparedStatement setNumbersIf;
  private final PreparedStatement addKeywords;
  private final PreparedStatement range;
  private final PreparedStatement those;
  private final PreparedStatement insert;
  private final PreparedStatement remember;
  private final PreparedStatement rememberIf;
  private final PreparedStatement flag;
  private final PreparedStatement remove;
  private final PreparedStatement places;
  private final PreparedStatement place;
  private final PreparedStatement unplace;
  private final PreparedStatement shared;
  private final PreparedStatement share;
  private final PreparedStatement unshare;

  MailTables(CqlSession session, String keyspace) {
    Preparing in = text -> session.prepare(text.replace("$", keyspace + "."));
    name = in.prepare("SELECT " + NAME_COLUMNS + " FROM $names" + THIS_NAME);
    namesOfUser = in.prepare("SELECT " + NAME_COLUMNS + " FROM $names WHERE user = ?");
    names = in.prepare("SELECT " + NAME_COLUMNS + " FROM $names");
    String insertName = "INSERT INTO $names (" + NAME_COLUMNS + ") VALUES (?, ?, ?, ?, ?, ?)";
    takeName = in.prepare(insertName);
    takeNameIf = in.prepare(insertName + " IF NOT EXISTS");
    freeName = in.prepare("DELETE FROM $names" + THIS_NAME);
    freeNameIf = in.prepare("DELETE FROM $names" + THIS_NAME + " IF mailbox_id = ?");
    String updateRights = "UPDATE $names SET rights = ?" + THIS_NAME;
    setRights = in.prepare(updateRights);
    setRightsIf = in.prepare(updateRights + " IF mailbox_id = ? AND rights = ?");

    String mailbox = " WHERE mailbox_id = ?";
    numbers =
        in.prepare(
            "SELECT uid, user, namespace, name, "
                + NUMBER_COLUMNS
                + ", "
                + DELIVERY_COLUMNS
                + " FROM $messages"
                + mailbox
                + " AND uid IN ?");
    String insertFirst =
        "INSERT INTO $messages (user, namespace, name, next_uid, highest_modseq, message_count,"
            + " unseen_count, mailbox_id, uid) VALUES (?, ?, ?, 1, 0, 0, 0, ?, "
            + FIRST_ROW
            + ")";
    start = in.prepare(insertFirst);
    startIf = in.prepare(insertFirst + " IF NOT EXISTS");
    stopIf =
        in.prepare(
            "DELETE next_uid, highest_modseq, message_count, unseen_count FROM $messages"
                + mailbox
                + " IF next_uid != null");
    drop = in.prepare("DELETE FROM $messages" + mailbox);
    hint = in.prepare("UPDATE $messages SET user = ?, namespace = ?, name = ?" + mailbox);
    String updateNumbers =
        "UPDATE $messages SET next_uid = ?, highest_modseq = ?, message_count = ?, unseen_count = ?"
            + mailbox;
    setNumbers = in.prepare(updateNumbers);
    setNumbersIf =
        in.prepare(updateNumbers + " IF next_uid = ? AND highest_modseq = ? AND message_count = ?");
    addKeywords = in.prepare("UPDATE $messages SET keywords = keywords + ?" + mailbox);
    range =
        in.prepare(
            "SELECT "
                + MESSAGE_COLUMNS
                + " FROM $messages"
                + mailbox
                + " AND uid >= ? AND uid <= ?");
    those = in.prepare("SELECT " + MESSAGE_COLUMNS + " FROM $messages" + mailbox + " AND uid IN ?");
    insert =
        in.prepare(
            "INSERT INTO $messages (mailbox_id, "
                + MESSAGE_COLUMNS
                + ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    remember =
        in.prepare(
            "INSERT INTO $messages (mailbox_id, uid, "
                + DELIVERY_COLUMNS
                + ") VALUES (?, ?, ?, ?, ?, ?) USING TTL "
                + DeliveryId.REMEMBERED.toSeconds());
    rememberIf =
        in.prepare(
            "UPDATE $messages USING TTL %d SET delivered_id = ?, delivered_uid = ?, modseq = ?,"
                    .formatted(DeliveryId.REMEMBERED.toSeconds())
                + " delivery = ?"
                + mailbox
                + " AND uid = ? IF delivery != ?");
    flag =
        in.prepare(
            "UPDATE $messages SET modseq = ?, system_flags = ?, user_flags = ?"
                + mailbox
                + " AND uid = ?");
    remove = in.prepare("DELETE FROM $messages" + mailbox + " AND uid = ?");

    places = in.prepare("SELECT mailbox_id, uid FROM $places WHERE message_id = ?");
    place = in.prepare("INSERT INTO $places (message_id, mailbox_id, uid) VALUES (?, ?, ?)");
    unplace = in.prepare("DELETE FROM $places WHERE message_id = ? AND mailbox_id = ? AND uid = ?");
    shared = in.prepare("SELECT mailbox_id FROM $shared WHERE user = ?");
    share = in.prepare("INSERT INTO $shared (user, mailbox_id) VALUES (?, ?)");
    unshare = in.prepare("DELETE FROM $shared WHERE user = ? AND mailbox_id = ?");
  }

  private interface Preparing {
    PreparedStatement prepare(String text);
  }

  BoundStatement name(Name of) {
    return name.bind(of.user(), of.namespace(), of.name());
  }

  BoundStatement namesOfUser(String user) {
    return namesOfUser.bind(user);
  }

  BoundStatement names() {
    return names.bind();
  }

  static NamedMailbox named(Row row) {
    return new NamedMailbox(
        new Name(row.getString("user"), row.getString("namespace"), row.getString("name")),
        row.getUuid("mailbox_id"),
        row.getLong("uid_validity"),
        row.getMap("rights", String.class, String.class));
  }

  BoundStatement takeName(NamedMailbox mailbox) {
    return taking(takeName, mailbox);
  }

  BoundStatement takeNameIf(NamedMailbox mailbox) {
    return taking(takeNameIf, mailbox);
  }

  private static BoundStatement taking(PreparedStatement statement, NamedMailbox mailbox) {
    Name of = mailbox.name();
    return statement.bind(
        of.user(),
        of.namespace(),
        of.name(),
        mailbox.id(),
        mailbox.uidValidity(),
        mailbox.rights());
  }

  BoundStatement freeName(NamedMailbox mailbox) {
    return freeName.bind(mailbox.name().user(), mailbox.name().namespace(), mailbox.name().name());
  }

  BoundStatement freeNameIf(NamedMailbox mailbox) {
    return freeNameIf.bind(
        mailbox.name().user(), mailbox.name().namespace(), mailbox.name().name(), mailbox.id());
  }

  BoundStatement setRights(NamedMailbox to) {
    return setRights.bind(to.rights(), to.name().user(), to.name().namespace(), to.name().name());
  }

  BoundStatement setRightsIf(NamedMailbox from, NamedMailbox to) {
    return setRightsIf.bind(
        to.rights(),
        to.name().user(),
        to.name().namespace(),
        to.name().name(),
        from.id(),
        from.rights());
  }

  /** The numbers of a mailbox, and by which name it was known last: one row, or none. */
  BoundStatement numbers(UUID mailbox) {
    return numbers.bind(mailbox, List.of(FIRST_ROW));
  }

  /** As {@link #numbers(UUID)}, and behind it the entries that have the places of these. */
  BoundStatement numbers(UUID mailbox, List<DeliveryId> ids) {
    List<Long> rows = new ArrayList<>();
    rows.add(FIRST_ROW);
    ids.forEach(id -> rows.add(id.place()));
    return numbers.bind(mailbox, rows);
  }

  /** Empty if there is no such mailbox. */
  static Optional<Numbers> numbers(Row row) {
    if (row == null || row.isNull("next_uid")) {
      return Optional.empty();
    }
    return Optional.of(
        new Numbers(
            row.getLong("next_uid"),
            row.getLong("highest_modseq"),
            row.getLong("message_count"),
            row.getLong("unseen_count"),
            row.getSet("keywords", String.class)));
  }

  static Delivered delivered(Row row) {
    return new Delivered(
        new DeliveryId(row.getString("delivery")),
        row.getUuid("delivered_id"),
        row.getLong("delivered_uid"),
        row.getLong("modseq"));
  }

  static Name hint(Row row) {
    return new Name(row.getString("user"), row.getString("namespace"), row.getString("name"));
  }

  BoundStatement start(NamedMailbox mailbox) {
    return named(start, mailbox);
  }

  BoundStatement startIf(NamedMailbox mailbox) {
    return named(startIf, mailbox);
  }

  BoundStatement hint(NamedMailbox mailbox) {
    return named(hint, mailbox);
  }

  private static BoundStatement named(PreparedStatement statement, NamedMailbox mailbox) {
    Name of = mailbox.name();
    return statement.bind(of.user(), of.namespace(), of.name(), mailbox.id());
  }

  BoundStatement stopIf(UUID mailbox) {
    return stopIf.bind(mailbox);
  }

  BoundStatement drop(UUID mailbox) {
    return drop.bind(mailbox);
  }

  BoundStatement setNumbers(UUID mailbox, Numbers after) {
    return setNumbers.bind(
        after.nextUid(), after.highestModSeq(), after.messages(), after.unseen(), mailbox);
  }

  BoundStatement setNumbersIf(UUID mailbox, Numbers before, Numbers after) {
    return setNumbersIf.bind(
        after.nextUid(),
        after.highestModSeq(),
        after.messages(),
        after.unseen(),
        mailbox,
        before.nextUid(),
        before.highestModSeq(),
        before.messages());
  }

  BoundStatement addKeywords(UUID mailbox, Set<String> keywords) {
    return addKeywords.bind(keywords, mailbox);
  }

  BoundStatement range(UUID mailbox, long first, long last) {
    return range.bind(mailbox, first, last);
  }

  BoundStatement those(UUID mailbox, List<Long> uids) {
    return those.bind(mailbox, uids);
  }

  /** Empty for a row that has only flags: they came after the message was removed. */
  static Optional<StoredMessage> message(Row row) {
    if (row.isNull("message_id")) {
      return Optional.empty();
    }
    return Optional.of(
        new StoredMessage(
            row.getLong("uid"),
            row.getLong("modseq"),
            new StoredFlags(row.getInt("system_flags"), row.getSet("user_flags", String.class)),
            row.getInstant("saved"),
            new MessageFacts(
                row.getUuid("message_id"),
                row.getUuid("thread_id"),
                row.getInstant("received"),
                row.getLong("size_bytes"),
                row.getInt("body_start"))));
  }

  BoundStatement insert(UUID mailbox, StoredMessage message) {
    MessageFacts facts = message.facts();
    return insert.bind(
        mailbox,
        message.uid(),
        message.modSeq(),
        facts.messageId(),
        facts.threadId(),
        message.flags().system(),
        message.flags().keywords(),
        facts.received(),
        message.saved(),
        facts.sizeBytes(),
        facts.bodyStart());
  }

  BoundStatement remember(UUID mailbox, Delivered entry) {
    return remember.bind(
        mailbox,
        entry.id().place(),
        entry.id().hash(),
        entry.messageId(),
        entry.uid(),
        entry.modSeq());
  }

  /** Only if the message is not known to be delivered. */
  BoundStatement rememberIf(UUID mailbox, Delivered entry) {
    return rememberIf.bind(
        entry.messageId(),
        entry.uid(),
        entry.modSeq(),
        entry.id().hash(),
        mailbox,
        entry.id().place(),
        entry.id().hash());
  }

  BoundStatement flag(UUID mailbox, StoredMessage message) {
    return flag.bind(
        message.modSeq(),
        message.flags().system(),
        message.flags().keywords(),
        mailbox,
        message.uid());
  }

  BoundStatement remove(UUID mailbox, StoredMessage message) {
    return remove.bind(mailbox, message.uid());
  }

  BoundStatement places(UUID messageId) {
    return places.bind(messageId);
  }

  BoundStatement place(UUID mailbox, StoredMessage message) {
    return place.bind(message.facts().messageId(), mailbox, message.uid());
  }

  BoundStatement unplace(UUID mailbox, StoredMessage message) {
    return unplace(mailbox, message.facts().messageId(), message.uid());
  }

  BoundStatement unplace(UUID mailbox, UUID messageId, long uid) {
    return unplace.bind(messageId, mailbox, uid);
  }

  BoundStatement shared(String user) {
    return shared.bind(user);
  }

  List<BoundStatement> share(Collection<String> users, UUID mailbox) {
    return users.stream().map(user -> share.bind(user, mailbox)).toList();
  }

  List<BoundStatement> unshare(Collection<String> users, UUID mailbox) {
    return users.stream().map(user -> unshare.bind(user, mailbox)).toList();
  }
}
