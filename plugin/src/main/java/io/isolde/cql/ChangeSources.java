// SPDX-License-Identifier: Apache-2.0
package io.isolde.cql;

import io.isolde.oracle.group.Changes;
import io.isolde.replication.GroupWatches;
import io.isolde.replication.ReplicatedLogStrategy;
import io.isolde.transaction.Tables;
import io.isolde.watch.Watches;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import org.apache.cassandra.schema.TableMetadata;

/**
 * Who knows what has changed: the oracle, of transactional tables and the configuration; and the
 * replica groups, of other tables of strong keyspaces.
 */
record ChangeSources(Watches oracle, GroupWatches groups) {
  /**
   * Asks whoever knows of a table now. Fails as {@link Watches#ask} and {@link GroupWatches#ask}.
   *
   * @param after empty for changes from now on
   */
  CompletableFuture<Changes.Notification> ask(
      TableMetadata table, WatchScope scope, OptionalLong after, long waitMillis) {
    if (WatchScope.isConfiguration(table)) {
      return oracle.ask(Optional.empty(), after, scope.ids(), waitMillis);
    }
    if (!Tables.isTransactional(table) && ReplicatedLogStrategy.isOf(table)) {
      return groups.ask(table, scope.group(), after, scope.ids(), waitMillis);
    }
    return oracle.ask(
        Optional.of(Tables.requireTransactional(table)), after, scope.ids(), waitMillis);
  }
}
