// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.james;

import org.apache.james.mailbox.exception.MailboxException;

/** The message of a {@link DeliverySession} has come into this mailbox before. All is well. */
public final class AlreadyDeliveredException extends MailboxException {
  private static final long serialVersionUID = 1L;

  AlreadyDeliveredException(Throwable cause) {
    super(cause.getMessage(), cause);
  }
}
