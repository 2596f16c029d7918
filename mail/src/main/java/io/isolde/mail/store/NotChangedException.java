// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store;

/** A mailbox was too busy, or not to be reached. It is certain that nothing was changed. */
public final class NotChangedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Too many others change the same mailbox. */
  public NotChangedException() {
    super("Too many others change this mailbox. Nothing was changed. Try again.");
  }

  /** What the change needs could not be read or written. */
  public NotChangedException(RuntimeException cause) {
    super("A mailbox could not be changed. Nothing was changed. Try again.", cause);
  }
}
