// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.delivery;

import java.time.Instant;
import java.util.Optional;

/**
 * Remembers which messages have come, so that one that a sender repeats is not there twice. For all
 * threads that may wait.
 */
public interface DeliveryLedger {

  /**
   * What is known of a message for an inbox.
   *
   * @param started when somebody began to deliver it
   * @param nextUid of the inbox at that time: the message has this UID or a later one
   * @param isDone whether it is in the inbox for sure
   */
  record Entry(Instant started, long nextUid, boolean isDone) {}

  /** Returns what is known of a message. */
  Optional<Entry> find(String id);

  /** Somebody is about to deliver a message. */
  void start(String id, Instant now, long nextUid);

  /** A message is in the inbox. */
  void done(String id, Entry started);

  /** Remembers nothing: what a sender repeats after a failure may be there twice. */
  static DeliveryLedger none() {
    return new DeliveryLedger() {
      @Override
      public Optional<Entry> find(String id) {
        return Optional.empty();
      }

      @Override
      public void start(String id, Instant now, long nextUid) {}

      @Override
      public void done(String id, Entry started) {}
    };
  }
}
