// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.james;

import java.util.UUID;
import org.apache.james.mailbox.model.MailboxId;

/** The id of a mailbox. */
public record UuidMailboxId(UUID uuid) implements MailboxId {

  /** Reads what {@link #serialize} has written. */
  public static UuidMailboxId parse(String serialized) {
    return new UuidMailboxId(UUID.fromString(serialized));
  }

  static UUID of(MailboxId id) {
    return ((UuidMailboxId) id).uuid();
  }

  @Override
  public String serialize() {
    return uuid.toString();
  }

  @Override
  public String toString() {
    return serialize();
  }
}
