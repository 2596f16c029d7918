// SPDX-License-Identifier: Apache-2.0
package io.isolde.cluster;

/**
 * A tool can't do, or go on with, what it was asked for: a benchmark, a study, torture. The message
 * says why, in full sentences.
 */
public final class ToolException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** With what to tell the user. */
  public ToolException(String message) {
    super(message);
  }

  /** The same, with its cause. */
  public ToolException(String message, Throwable cause) {
    super(message, cause);
  }
}
