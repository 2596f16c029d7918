// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

import java.util.HashSet;
import java.util.Set;
import org.apache.cassandra.db.view.View;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.streaming.StreamEvent;
import org.apache.cassandra.streaming.StreamEventHandler;
import org.apache.cassandra.streaming.StreamManager;
import org.apache.cassandra.streaming.StreamOperation;
import org.apache.cassandra.streaming.StreamResultFuture;
import org.apache.cassandra.streaming.StreamState;

/**
 * Notices data of new ranges that comes as if it were written here, row by row, and not as files,
 * which {@link StreamWatch} sees: so do tables with views or change data capture. When all of it
 * has come, and before anybody is sent here for it, the replica ceases to vouch for older
 * snapshots. Its senders do, too, as they can't be told apart by what they are told.
 */
record WritePathStreams(NodeVersions node)
    implements StreamManager.StreamListener, StreamEventHandler {

  @Override
  public void onRegister(StreamResultFuture stream) {
    if (stream.streamOperation != StreamOperation.REPAIR) {
      stream.addEventListener(this);
    }
  }

  @Override
  public void handleStreamEvent(StreamEvent event) {
    if (event instanceof StreamEvent.SessionCompleteEvent ended) {
      Set<String> keyspaces = new HashSet<>(ended.transferredRangesPerKeyspace.keySet());
      ended.requests.forEach(request -> keyspaces.add(request.keyspace));
      rangesHaveCome(keyspaces);
    }
  }

  /**
   * @param keyspaces of the ranges, or none if that is not known
   */
  void rangesHaveCome(Set<String> keyspaces) {
    for (VersionIndex table : node.tables()) {
      boolean isMeant = keyspaces.isEmpty() || keyspaces.contains(table.table().keyspace);
      if (isMeant && isWrittenTo(table.table())) {
        table.versions().horizon().raise(node.clock().latestTimestamp());
      }
    }
  }

  /** As Cassandra decides it when it receives a stream. */
  private static boolean isWrittenTo(TableMetadata table) {
    return table.params.cdc || View.findAll(table.keyspace, table.name).iterator().hasNext();
  }

  @Override
  public void onSuccess(StreamState ended) {}

  @Override
  public void onFailure(Throwable failure) {}
}
