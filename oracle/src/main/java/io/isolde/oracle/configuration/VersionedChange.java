// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.configuration;

import static java.util.Objects.requireNonNull;

/**
 * A change and the version that it made.
 *
 * @param timeMicros of the log's entry: the clock of the oracle's leader then
 */
public record VersionedChange(long version, long timeMicros, Change change) {
  public VersionedChange {
    requireNonNull(change);
  }
}
