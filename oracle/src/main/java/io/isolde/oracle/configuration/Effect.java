// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.configuration;

/** What became of a {@link ConfigurationReport}. */
public enum Effect {
  /** It has made a version. */
  CHANGED,
  /** All that it says is known, or something newer is. */
  UNCHANGED,
  /** There is no room for another entry, or for a larger one; nothing was changed. */
  FULL,
  /** A new leader of a group that is not registered: register it. */
  NO_SUCH_GROUP
}
