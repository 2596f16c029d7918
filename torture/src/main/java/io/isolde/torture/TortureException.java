// SPDX-License-Identifier: Apache-2.0
package io.isolde.torture;

/** The torture itself could not go on. */
public final class TortureException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  TortureException(String message) {
    super(message);
  }

  public TortureException(String message, Throwable cause) {
    super(message, cause);
  }
}
