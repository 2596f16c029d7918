// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

/**
 * Names a write, so that it is applied once however often it is sent.
 *
 * <p>Nodes name the writes that they send to leaders. A client may name its own, and then send the
 * same one through several nodes.
 *
 * @param session a node's process, or a client's session; random, never 0. That of a node is odd
 * @param number increases with each write of the session. A node's counts its writes to one group;
 *     a client's is the time of its clock, in microseconds since 1970
 * @param oldestOpen below it the session sends none again
 */
public record RequestId(long session, long number, long oldestOpen) {
  /** What a node's numbers never reach: 2005. */
  private static final long MIN_OF_CLIENT = 1L << 50;

  /** Whether a client named it. */
  public boolean isOfClient() {
    return isOfClient(number);
  }

  /** Under this name it is in the log that a node's request was answered without a write. */
  RequestId declined() {
    assert !isOfClient() && (session & 1) == 1 : this;
    return new RequestId(session ^ 1, number, oldestOpen);
  }

  static boolean isOfClient(long number) {
    return number >= MIN_OF_CLIENT;
  }
}
