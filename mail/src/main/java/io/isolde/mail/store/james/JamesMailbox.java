// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.james;

import io.isolde.mail.store.Name;
import io.isolde.mail.store.NamedMailbox;
import java.util.HashMap;
import java.util.Map;
import org.apache.james.core.Username;
import org.apache.james.mailbox.exception.UnsupportedRightException;
import org.apache.james.mailbox.model.Mailbox;
import org.apache.james.mailbox.model.MailboxACL;
import org.apache.james.mailbox.model.MailboxPath;
import org.apache.james.mailbox.model.UidValidity;

/** Names, rights and mailboxes of James and those of the store. */
final class JamesMailbox {
  private JamesMailbox() {}

  static Name name(MailboxPath path) {
    return new Name(
        path.getUser() == null ? "" : path.getUser().asString(),
        path.getNamespace(),
        path.getName());
  }

  static Mailbox mailbox(NamedMailbox named) {
    String user = named.name().user();
    Mailbox mailbox =
        new Mailbox(
            new MailboxPath(
                named.name().namespace(),
                user.isEmpty() ? null : Username.of(user),
                named.name().name()),
            UidValidity.of(named.uidValidity()),
            new UuidMailboxId(named.id()));
    mailbox.setACL(acl(named.rights()));
    return mailbox;
  }

  static MailboxACL acl(Map<String, String> rights) {
    Map<MailboxACL.EntryKey, MailboxACL.Rfc4314Rights> entries = new HashMap<>();
    rights.forEach(
        (key, value) -> entries.put(MailboxACL.EntryKey.deserialize(key), rights(value)));
    return new MailboxACL(entries);
  }

  private static MailboxACL.Rfc4314Rights rights(String value) {
    try {
      return MailboxACL.Rfc4314Rights.deserialize(value);
    } catch (UnsupportedRightException e) {
      throw new IllegalStateException("The rights \"%s\" are none.".formatted(value), e);
    }
  }

  static Map<String, String> rights(MailboxACL acl) {
    Map<String, String> rights = new HashMap<>();
    acl.getEntries().forEach((key, value) -> rights.put(key.serialize(), value.serialize()));
    return rights;
  }
}
