// SPDX-License-Identifier: Apache-2.0
package io.isolde.statement;

import org.apache.cassandra.service.QueryState;

/**
 * When a statement that reads first takes effect.
 *
 * @param state its timestamp, an even one, is that of what is written, and above all that is read
 * @param asOf what was committed has timestamps up to it; what is above is the transaction's own
 * @param placeMicros above all places in lists that are read: that of new elements until the commit
 */
public record WriteMoment(QueryState state, long asOf, long placeMicros) {
  public WriteMoment {
    assert state.getTimestamp() % 2 == 0;
    assert placeMicros > asOf;
  }
}
