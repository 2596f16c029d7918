// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.james;

import com.datastax.oss.driver.api.core.uuid.Uuids;
import java.util.UUID;
import org.apache.james.mailbox.model.MessageId;

/** The id of a message, the same in all mailboxes. New ones are time UUIDs, as in the thesis. */
public record UuidMessageId(UUID uuid) implements MessageId {

  /** Makes ids, and reads what {@link #serialize} has written. */
  public static final class Factory implements MessageId.Factory {
    @Override
    public UuidMessageId fromString(String serialized) {
      return new UuidMessageId(UUID.fromString(serialized));
    }

    @Override
    public UuidMessageId generate() {
      return new UuidMessageId(Uuids.timeBased());
    }
  }

  static UUID of(MessageId id) {
    return ((UuidMessageId) id).uuid();
  }

  @Override
  public String serialize() {
    return uuid.toString();
  }

  @Override
  public boolean isSerializable() {
    return true;
  }

  @Override
  public String toString() {
    return serialize();
  }
}
