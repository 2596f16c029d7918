// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness;

/** Which replicas a read is sent to. */
public enum ReadFanOut {
  /** All, of which the first to answer count: Dynamo, and the paper's model. */
  ALL,
  /** Only as many as must answer, the preferred ones: Cassandra. */
  PREFERRED
}
