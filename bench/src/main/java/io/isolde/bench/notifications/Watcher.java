// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.notifications;

/** A client with one watch, on an event loop that it shares with others. */
interface Watcher {
  /** Connects and watches. */
  void begin();

  /** Leaves. */
  void end();

  /** Whether its last connection is closed. */
  boolean isGone();

  /** Where it is connected, as host:port; empty if it is not. */
  String address();

  Inbox inbox();

  /** Why it watches no more; empty if it does. */
  String failure();
}
