// SPDX-License-Identifier: Apache-2.0
package io.isolde.push;

/**
 * Which question a subscription waits for, so that nobody asks any more when it ends. A thread says
 * that it has asked only when it has: then the answer may have come, and the next question be under
 * way; or the subscription is over. Thread-safe.
 */
final class WaitingQuestion {
  /** Of the newest question that was asked; guarded by this, as all of it. */
  private int newest;

  private Runnable giveUp = () -> {};
  private boolean isOver;

  /**
   * A question was asked.
   *
   * @param number the later the greater, from 0 on; after the greatest number come negative ones
   * @param giveUpThis ends it if nobody else waits for it; is called at once if the subscription is
   *     over
   */
  void asked(int number, Runnable giveUpThis) {
    synchronized (this) {
      if (!isOver) {
        if (number - newest >= 0) { // An older one is answered, else there were no newer one.
          newest = number;
          giveUp = giveUpThis;
        }
        return;
      }
    }
    giveUpThis.run();
  }

  /** The subscription is over. */
  void end() {
    Runnable last;
    synchronized (this) {
      isOver = true;
      last = giveUp;
    }
    last.run();
  }

  synchronized boolean isOver() {
    return isOver;
  }
}
