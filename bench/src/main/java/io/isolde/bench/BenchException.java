// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

/** A benchmark could not be measured; the message says why, in full sentences. */
public final class BenchException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public BenchException(String message) {
    super(message);
  }

  public BenchException(String message, Throwable cause) {
    super(message, cause);
  }
}
