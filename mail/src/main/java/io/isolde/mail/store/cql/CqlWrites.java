// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.cql;

import com.datastax.oss.driver.api.core.cql.BoundStatement;
import io.isolde.mail.store.MailboxChange;
import io.isolde.mail.store.MailboxWrites;
import io.isolde.mail.store.NamedMailbox;
import io.isolde.mail.store.Numbers;
import io.isolde.mail.store.StoredMessage;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/** What a change writes, in whichever way it is written. */
abstract class CqlWrites implements MailboxWrites {
  final MailTables tables;

  CqlWrites(MailTables tables) {
    this.tables = tables;
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
    for (StoredMessage message : change.flagged()) {
      statements.add(tables.flag(mailbox, message));
    }
    for (StoredMessage message : change.removed()) {
      statements.add(tables.remove(mailbox, message));
    }
    return statements;
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
