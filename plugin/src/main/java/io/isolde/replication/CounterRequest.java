// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import io.isolde.apply.TableStores;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashSet;
import java.util.List;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.io.util.DataInputBuffer;
import org.apache.cassandra.io.util.DataOutputBuffer;

/**
 * What is to be added to the counters of one partition, on its way to the leader.
 *
 * @param updates of tables of one partition key
 */
record CounterRequest(List<PartitionUpdate> updates, long nowInSeconds) {
  /** In the place of the name of a keyspace, with which a {@link DecisionRequest} starts. */
  private static final String NO_KEYSPACE = "";

  /** What comes before the updates. */
  private static final int HEADER_BYTES = Short.BYTES + Long.BYTES;

  byte[] encode() {
    try (DataOutputBuffer out = new DataOutputBuffer()) {
      out.writeUTF(NO_KEYSPACE);
      out.writeLong(nowInSeconds);
      out.write(Payload.encode(new Payload.Updates(updates, Payload.Timestamps.OF_THE_LOG)));
      return out.toByteArray();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Whether what came for a leader's decision is one of these. */
  static boolean isOne(byte[] request) {
    return request[0] == 0 && request[1] == 0;
  }

  private static void requireOpen(Payload.Updates updates) {
    try {
      updates.updates().forEach(update -> TableStores.requireOpen(update.metadata()));
    } catch (IllegalStateException e) {
      throw new DecidedStatement.UnknownHereException(e);
    }
  }

  /**
   * Reads one.
   *
   * @throws DecidedStatement.UnknownHereException if this node has not heard of a table or column
   */
  static CounterRequest decode(byte[] request) {
    try (DataInputBuffer in = new DataInputBuffer(request)) {
      in.skipBytesFully(Short.BYTES);
      long nowInSeconds = in.readLong();
      byte[] rest = new byte[request.length - HEADER_BYTES];
      in.readFully(rest);
      Payload.Updates updates =
          (Payload.Updates) Payload.decode(rest, false, false, new HashSet<>());
      requireOpen(updates);
      return new CounterRequest(List.copyOf(updates.updates()), nowInSeconds);
    } catch (Payload.UnknownSchemaException e) {
      throw new DecidedStatement.UnknownHereException(new IllegalStateException(e.getMessage(), e));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
