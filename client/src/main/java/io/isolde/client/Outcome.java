// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

import java.util.Locale;

/** What is known about the fate of a transaction when an error is reported. */
public enum Outcome {
  /** Nothing was written and nothing will be. */
  NOT_COMMITTED,
  /** The commit is decided; running the work again would do it twice. */
  COMMITTED,
  /** It can't be told; the application has to look at the data before it repeats the work. */
  UNKNOWN;

  /** The outcome a trailer names; {@link #UNKNOWN} for null and for words of later versions. */
  static Outcome parse(String word) {
    for (Outcome outcome : values()) {
      if (outcome.word().equals(word)) {
        return outcome;
      }
    }
    return UNKNOWN;
  }

  String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
