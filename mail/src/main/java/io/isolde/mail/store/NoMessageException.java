// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store;

/** The message that was to be moved or copied is gone. Nothing was changed. */
public final class NoMessageException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public NoMessageException(long uid) {
    super("The message %d is not in its mailbox any more.".formatted(uid));
  }
}
