// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import io.isolde.version.SnapshotTooOldException;
import java.io.IOException;
import java.util.Map;
import org.apache.cassandra.db.ConsistencyLevel;
import org.apache.cassandra.db.ReadCommand;
import org.apache.cassandra.exceptions.CassandraException;
import org.apache.cassandra.exceptions.ReadFailureException;
import org.apache.cassandra.exceptions.RequestFailureReason;
import org.apache.cassandra.io.util.DataInputPlus;
import org.apache.cassandra.io.util.DataOutputPlus;
import org.apache.cassandra.locator.InetAddressAndPort;
import org.apache.cassandra.net.MessagingService;
import org.apache.cassandra.utils.FBUtilities;
import org.apache.cassandra.utils.concurrent.UncheckedInterruptedException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the client is told when the leader can't read what is stored: what Cassandra says on a plain
 * keyspace, whichever node was asked. Drivers don't send such a read again.
 */
final class ReadFailures {
  private static final Logger logger = LoggerFactory.getLogger(ReadFailures.class);

  private ReadFailures() {}

  /** For a failure on this node; the failure itself if clients understand it. */
  static RuntimeException of(
      RuntimeException failure, ReadCommand command, ConsistencyLevel consistency) {
    if (failure instanceof CassandraException
        || failure instanceof SnapshotTooOldException
        || failure instanceof UncheckedInterruptedException) {
      return failure;
    }
    InetAddressAndPort self = FBUtilities.getBroadcastAddressAndPort();
    RuntimeException refusal = failure(self, reason(failure, command), consistency);
    refusal.addSuppressed(failure);
    return refusal;
  }

  /** What clients are told of the reason; the rest of it is in this node's log. */
  static RequestFailureReason reason(RuntimeException failure, ReadCommand command) {
    RequestFailureReason reason = RequestFailureReason.forException(failure);
    if (reason == RequestFailureReason.UNKNOWN) {
      logger.error("A read of {} failed", command.metadata(), failure);
    }
    return reason;
  }

  /** For the node that asked this one. */
  static void write(RequestFailureReason reason, DataOutputPlus out) throws IOException {
    int version = MessagingService.current_version;
    out.writeInt(version);
    out.writeInt(reason.code);
    InetAddressAndPort.Serializer.inetAddressAndPortSerializer.serialize(
        FBUtilities.getBroadcastAddressAndPort(), out, version);
  }

  /** What was written by the leader. */
  static ReadFailureException read(DataInputPlus in, ConsistencyLevel consistency)
      throws IOException {
    int version = in.readInt();
    RequestFailureReason reason = RequestFailureReason.fromCode(in.readInt());
    return failure(
        InetAddressAndPort.Serializer.inetAddressAndPortSerializer.deserialize(in, version),
        reason,
        consistency);
  }

  private static ReadFailureException failure(
      InetAddressAndPort leader, RequestFailureReason reason, ConsistencyLevel consistency) {
    return new ReadFailureException(consistency, 0, 1, false, Map.of(leader, reason));
  }
}
