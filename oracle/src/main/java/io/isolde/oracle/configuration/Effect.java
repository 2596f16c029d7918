// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.configuration;

/** What became of a {@link ConfigurationReport}. */
public enum Effect {
  /** It has made a version. */
  CHANGED,
  /** All that it says is known; or the entry that it is about is not there, or newer. */
  UNCHANGED,
  /** There is no room for another entry, or for a larger one; nothing was changed. */
  FULL,
  /** A new leader of a group that is not registered: register it. */
  NO_SUCH_GROUP,
  /** A registration of an older term or generation than known, or the same again. */
  SUPERSEDED
}
