// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.james;

import io.isolde.mail.store.DeliveryId;
import java.util.Optional;
import org.apache.james.mailbox.MailboxSession;

/**
 * Says of a session of James what its one message is known by, since no method of James has room
 * for that. A mailbox takes the message if it has no entry of this id, and throws {@link
 * AlreadyDeliveredException} else.
 */
public final class DeliverySession {
  private static final String ATTRIBUTE = "io.isolde.mail.delivery";

  private DeliverySession() {}

  /** Call this before the session appends its message. */
  public static void set(MailboxSession session, DeliveryId id) {
    session.getAttributes().put(ATTRIBUTE, id);
  }

  static Optional<DeliveryId> of(MailboxSession session) {
    return Optional.ofNullable((DeliveryId) session.getAttributes().get(ATTRIBUTE));
  }
}
