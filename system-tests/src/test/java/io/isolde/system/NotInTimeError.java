// SPDX-License-Identifier: Apache-2.0
package io.isolde.system;

/** What must come true in the end did not within a bound. */
public final class NotInTimeError extends AssertionError {
  private static final long serialVersionUID = 1L;

  NotInTimeError(String what, Throwable cause) {
    super("Waited in vain until " + what + ".", cause);
  }
}
