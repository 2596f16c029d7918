// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.delivery;

/** A message may be in the inbox or not; the sender has to try again. */
public final class DeliveryFailedException extends Exception {

  DeliveryFailedException(String message, Throwable cause) {
    super(message, cause);
  }
}
