// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store;

/** The same delivery has brought another message before. Nothing was changed. */
public final class DeliveredBeforeException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  DeliveredBeforeException(Delivered earlier) {
    super("This message has come before, under the UID %d.".formatted(earlier.uid()));
  }
}
