// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft;

import java.io.IOException;

/**
 * The log of a group is not what this node wrote, so that what it has acknowledged is not all
 * there. It must not take part with it. Nothing was changed on disk.
 */
public final class LogDamagedException extends IOException {
  private static final long serialVersionUID = 1L;

  /** Says what is wrong, and where. */
  public LogDamagedException(String message) {
    super(message);
  }
}
