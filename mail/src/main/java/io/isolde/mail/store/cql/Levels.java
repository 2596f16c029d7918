// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.cql;

import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.DefaultConsistencyLevel;

/**
 * At which levels a store reads what changes. All writes, and reads of what never changes, are at
 * QUORUM.
 *
 * @param names of lists and names
 * @param numbers of what the next change is decided by
 */
record Levels(ConsistencyLevel names, ConsistencyLevel numbers) {

  /** What never changes once it is written, and all writes. */
  static final ConsistencyLevel COMMON = DefaultConsistencyLevel.QUORUM;

  /** All at QUORUM. On a strong keyspace that means the leader, and is linearizable. */
  static final Levels QUORUM = new Levels(COMMON, COMMON);

  /** Numbers with what lightweight transactions under way have left; the rest at QUORUM. */
  static final Levels SERIAL_NUMBERS = new Levels(COMMON, DefaultConsistencyLevel.SERIAL);

  /** All as of after each commit that any node has acknowledged. */
  static final Levels SERIAL =
      new Levels(DefaultConsistencyLevel.SERIAL, DefaultConsistencyLevel.SERIAL);
}
