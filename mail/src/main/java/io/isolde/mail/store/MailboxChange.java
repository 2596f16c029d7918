// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store;

import java.util.List;

/**
 * What is to become of a mailbox: all of it, or nothing.
 *
 * @param listed messages that were not there
 * @param flagged messages whose flags changed
 * @param removed messages that go
 * @param delivered entries that are to be remembered, each with a place of its own
 * @param answer for whoever asked
 */
public record MailboxChange<T>(
    Numbers after,
    List<StoredMessage> listed,
    List<StoredMessage> flagged,
    List<StoredMessage> removed,
    List<Delivered> delivered,
    T answer) {

  /** A change that only gives numbers. */
  static <T> MailboxChange<T> ofNumbers(Numbers after, T answer) {
    return of(after, List.of(), List.of(), List.of(), answer);
  }

  /** A change without an entry. */
  static <T> MailboxChange<T> of(
      Numbers after,
      List<StoredMessage> listed,
      List<StoredMessage> flagged,
      List<StoredMessage> removed,
      T answer) {
    return new MailboxChange<>(after, listed, flagged, removed, List.of(), answer);
  }
}
