// SPDX-License-Identifier: Apache-2.0
package io.isolde.apply;

import io.isolde.version.NodeVersions;
import java.util.List;
import org.apache.cassandra.db.Keyspace;
import org.apache.cassandra.db.Mutation;
import org.apache.cassandra.db.SystemKeyspace;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.locator.ReplicaLayout;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.utils.FBUtilities;

/** Applies commits to this node again, which it may have lost, and to no other. */
public final class LostWritesApplier {
  private final StrongTables strong;

  /**
   * @param strong tables that have logs of their own
   */
  public LostWritesApplier(StrongTables strong) {
    this.strong = strong;
  }

  /**
   * Applies what of a commit belongs here: the same cells with the same timestamps. A table that
   * this node does not know was dropped, or was made while it was down: then it had none of it.
   *
   * @throws IllegalStateException if a column is not known yet; other columns may be what was lost
   */
  public void apply(long commitTimestamp, List<byte[]> writeSet) {
    WriteSetCodec.Decoded decoded = WriteSetCodec.decode(writeSet);
    if (!decoded.unknownColumns().isEmpty()) {
      throw new IllegalStateException(
          "Commit " + commitTimestamp + " can't be read yet: " + decoded.unknownColumns());
    }
    List<PartitionUpdate> updates =
        decoded.updates().stream()
            .filter(update -> !isTruncated(update.metadata(), commitTimestamp))
            .toList();
    for (Mutation mutation : TablesThatExist.of(Stamp.mutations(updates, commitTimestamp))) {
      if (!strong.isStrong(mutation.getKeyspaceName()) && isReplica(mutation)) {
        mutation.apply();
      }
    }
  }

  /**
   * Of a transactional table nothing comes here that was truncated: {@code TableMode.truncate}. A
   * table that is plain again was truncated by a clock, which had passed the commits before.
   */
  private static boolean isTruncated(TableMetadata table, long commitTimestamp) {
    return NodeVersions.ofThisNode().of(table.id) == null
        && commitTimestamp / 1000 <= SystemKeyspace.getTruncatedAt(table.id);
  }

  private static boolean isReplica(Mutation mutation) {
    return ReplicaLayout.forTokenWriteLiveAndDown(
            Keyspace.open(mutation.getKeyspaceName()), mutation.key().getToken())
        .all()
        .endpoints()
        .contains(FBUtilities.getBroadcastAddressAndPort());
  }
}
