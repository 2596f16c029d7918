// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft;

/** What is proposed for a log. It may keep what it comes to, for the member that proposed it. */
public interface LogData {
  /**
   * The bytes for the log. Asked for at most once. They are not copied, so nobody may change them
   * afterwards.
   */
  byte[] encode();
}
