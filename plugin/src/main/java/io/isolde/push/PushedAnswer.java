// SPDX-License-Identifier: Apache-2.0
package io.isolde.push;

import io.isolde.notification.ServerMessage;
import io.isolde.oracle.group.Changes;

/** An answer that many get, most of them as the same text. Thread-safe. */
final class PushedAnswer {
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Text(int id, byte[] bytes) {}

  private final Changes.Notification notification;

  /** The last one that was made; most clients give their subscriptions the same ids. */
  private volatile Text last = new Text(-1, new byte[0]);

  PushedAnswer(Changes.Notification notification) {
    this.notification = notification;
  }

  Changes.Notification notification() {
    return notification;
  }

  /**
   * A message as it is sent. Nobody may change the bytes.
   *
   * @param message that has this answer, so that only its id can differ
   */
  byte[] bytes(ServerMessage message) {
    Text made = last;
    if (made.bytes.length == 0 || made.id != message.id()) {
      made = new Text(message.id(), PushJson.bytes(message));
      last = made;
    }
    return made.bytes;
  }
}
