// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.transport;

/** A connection to a node, as whoever keeps it open sees it. */
interface Connection {
  /** Whether requests can still be sent. */
  boolean isOpen();

  /** For how long requests have been waiting and nothing has come; 0 if none waits. */
  long unansweredMillis();

  /** Closes it when those that wait for an answer have had this time. */
  void closeAfter(long millis);

  /** Requests without an answer fail. */
  void close();
}
