// SPDX-License-Identifier: Apache-2.0
package io.isolde.cli;

/** A command can't do what it was asked for; the message says why, in full sentences. */
final class CommandFailedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  CommandFailedException(String sentence) {
    super(sentence);
  }

  CommandFailedException(String sentence, Throwable cause) {
    super(sentence, cause);
  }
}
