// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.notifications;

/** Changes what all watch, one change after the other. */
interface Writer extends AutoCloseable {
  /** Whether a change took place is not known. */
  final class DoubtfulException extends RuntimeException {
    DoubtfulException(Throwable cause) {
      super(cause);
    }
  }

  /**
   * Makes a change, and returns the id that notifications of it have.
   *
   * @throws DoubtfulException if nobody knows whether it was made
   * @throws RuntimeException if it was not made
   */
  long change();

  @Override
  void close();
}
