// SPDX-License-Identifier: Apache-2.0
package io.isolde.study;

/** A study or a prediction is not possible; the message says why and what to do. */
public final class StudyException extends RuntimeException {
  public StudyException(String message) {
    super(message);
  }

  public StudyException(String message, Throwable cause) {
    super(message, cause);
  }
}
