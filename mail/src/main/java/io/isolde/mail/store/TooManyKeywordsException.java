// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store;

/** A mailbox would know more keywords than {@link Numbers#MAX_KEYWORDS}. Nothing was changed. */
public final class TooManyKeywordsException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  TooManyKeywordsException() {
    super("A mailbox can have %d keywords at most.".formatted(Numbers.MAX_KEYWORDS));
  }
}
