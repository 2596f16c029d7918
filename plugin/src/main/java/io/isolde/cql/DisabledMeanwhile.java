// SPDX-License-Identifier: Apache-2.0
package io.isolde.cql;

import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.apache.cassandra.transport.messages.ResultMessage;

/**
 * DISABLE TRANSACTIONS on a table of a strong keyspace came in after a statement was found to be a
 * transaction's: it is no more, and Cassandra must not run it, past the log of the table's group.
 */
final class DisabledMeanwhile extends RuntimeException {
  private static final long serialVersionUID = 1L;

  DisabledMeanwhile() {
    super("The table is not transactional any more.", null, false, false);
  }

  /** Has a statement find its way again, once for each DISABLE that comes in between. */
  static CompletableFuture<ResultMessage> again(
      Supplier<CompletableFuture<ResultMessage>> routing) {
    while (true) {
      try {
        return routing.get();
      } catch (DisabledMeanwhile disabled) {
        // The barrier has let it through, so that is over.
      }
    }
  }
}
