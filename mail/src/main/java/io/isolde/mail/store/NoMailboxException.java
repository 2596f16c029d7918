// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store;

import java.util.UUID;

/** The mailbox is not there, or not any more. Nothing was changed. */
public final class NoMailboxException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final UUID mailbox;

  public NoMailboxException(UUID mailbox) {
    super("There is no mailbox %s.".formatted(mailbox));
    this.mailbox = mailbox;
  }

  /** The id that was asked for. */
  public UUID mailbox() {
    return mailbox;
  }
}
