// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import io.isolde.group.GroupClient;
import io.isolde.raft.GroupFailure;
import io.isolde.version.SnapshotTooOldException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;
import org.apache.cassandra.concurrent.Stage;
import org.apache.cassandra.db.ConsistencyLevel;
import org.apache.cassandra.db.ReadCommand;
import org.apache.cassandra.db.ReadExecutionController;
import org.apache.cassandra.db.ReadResponse;
import org.apache.cassandra.db.partitions.PartitionIterator;
import org.apache.cassandra.db.partitions.UnfilteredPartitionIterator;
import org.apache.cassandra.db.partitions.UnfilteredPartitionIterators;
import org.apache.cassandra.exceptions.RequestValidationException;
import org.apache.cassandra.io.util.DataInputBuffer;
import org.apache.cassandra.io.util.DataOutputBuffer;
import org.apache.cassandra.net.MessagingService;
import org.apache.cassandra.service.ClientWarn;
import org.apache.cassandra.utils.ByteBufferUtil;
import org.apache.cassandra.utils.concurrent.UncheckedInterruptedException;

/** Reads what the leader of a group has: all that was answered before the read began. */
final class LeaderReads {
  /** In the place of the version of the protocol. */
  private static final int TOO_OLD = -1;

  /** Likewise. */
  private static final int FAILED = -2;

  private static final byte[] HERE = {};
  private static final CompletableFuture<byte[]> READ_HERE =
      CompletableFuture.completedFuture(HERE);

  private LeaderReads() {}

  /** Reads from the group that has all that the command asks for. */
  static PartitionIterator read(
      StrongKeyspace keyspace,
      GroupClient.Target target,
      ReadCommand command,
      ConsistencyLevel consistency) {
    return begin(keyspace, target, command).await(consistency);
  }

  /** Asks, and does not wait for the answer. */
  static Begun begin(StrongKeyspace keyspace, GroupClient.Target target, ReadCommand command) {
    GroupClient client = keyspace.client();
    return new Begun(
        command,
        client
            .leadingHere(target)
            .thenCompose(here -> here == null ? client.read(target, encode(command)) : READ_HERE));
  }

  /**
   * A read on its way.
   *
   * @param response {@link #HERE} if this node leads
   */
  record Begun(ReadCommand command, CompletableFuture<byte[]> response) {
    PartitionIterator await(ConsistencyLevel consistency) {
      try {
        byte[] bytes = response.get();
        return bytes == HERE
            ? ReadHere.of(command, consistency)
            : decode(bytes, command, consistency);
      } catch (ExecutionException e) {
        throw StrongErrors.ofRead(e.getCause(), consistency);
      } catch (InterruptedException e) {
        throw new UncheckedInterruptedException(e);
      }
    }
  }

  static byte[] encode(ReadCommand command) {
    try (DataOutputBuffer out = new DataOutputBuffer()) {
      out.writeInt(MessagingService.current_version);
      ReadCommand.serializer.serialize(command, out, MessagingService.current_version);
      return out.toByteArray();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Asking again would not help. */
  private static byte[] encode(SnapshotTooOldException e) throws IOException {
    try (DataOutputBuffer out = new DataOutputBuffer()) {
      out.writeInt(TOO_OLD);
      out.writeLong(e.asOf());
      out.writeLong(e.horizon());
      return out.toByteArray();
    }
  }

  /** Likewise: what is stored is to blame, as with too many tombstones. */
  private static byte[] failed(RuntimeException e, ReadCommand command) throws IOException {
    try (DataOutputBuffer out = new DataOutputBuffer()) {
      out.writeInt(FAILED);
      ReadFailures.write(ReadFailures.reason(e, command), out);
      return out.toByteArray();
    }
  }

  static PartitionIterator decode(
      byte[] response, ReadCommand command, ConsistencyLevel consistency) {
    try (DataInputBuffer in = new DataInputBuffer(response)) {
      int version = in.readInt();
      if (version == TOO_OLD) {
        throw new SnapshotTooOldException(in.readLong(), in.readLong());
      }
      if (version == FAILED) {
        throw ReadFailures.read(in, consistency);
      }
      ReadResponse decoded = ReadResponse.serializer.deserialize(in, version);
      warnClient(in);
      return UnfilteredPartitionIterators.filter(decoded.makeIterator(command), command.nowInSec());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** As of too many tombstones: what this node's client is to hear of the leader's read. */
  private static void writeWarnings(DataOutputBuffer out) throws IOException {
    List<String> warnings = ClientWarn.instance.getWarnings();
    int count = warnings == null ? 0 : warnings.size();
    out.writeInt(count);
    for (int i = 0; i < count; i++) {
      ByteBufferUtil.writeWithLength(ByteBufferUtil.bytes(warnings.get(i)), out);
    }
  }

  private static void warnClient(DataInputBuffer in) throws IOException {
    int count = in.available() == 0 ? 0 : in.readInt(); // An older leader tells of none.
    for (int i = 0; i < count; i++) {
      ClientWarn.instance.warn(ByteBufferUtil.string(ByteBufferUtil.readWithLength(in)));
    }
  }

  /** The leader's side, after the barrier. */
  static CompletableFuture<byte[]> answer(byte[] request) {
    return CompletableFuture.supplyAsync(
        () -> {
          ClientWarn.instance.captureWarnings();
          try {
            return readFor(request);
          } finally {
            ClientWarn.instance.resetWarnings();
          }
        },
        Stage.READ.executor());
  }

  /** For what there may be much to look through, so that no thread of the log does it. */
  static <T> CompletableFuture<T> onReadThread(Supplier<CompletableFuture<T>> task) {
    return CompletableFuture.completedFuture(task)
        .thenComposeAsync(Supplier::get, Stage.READ.executor());
  }

  private static byte[] readFor(byte[] request) {
    try (DataInputBuffer in = new DataInputBuffer(request);
        DataOutputBuffer out = new DataOutputBuffer()) {
      ReadCommand command = ReadCommand.serializer.deserialize(in, in.readInt());
      out.writeInt(MessagingService.current_version);
      try (ReadExecutionController controller = command.executionController();
          UnfilteredPartitionIterator rows = command.executeLocally(controller)) {
        ReadResponse response = command.createResponse(rows, controller.getRepairedDataInfo());
        ReadResponse.serializer.serialize(response, out, MessagingService.current_version);
      } catch (SnapshotTooOldException e) {
        return encode(e);
      } catch (UncheckedInterruptedException e) {
        throw e; // This node stops, and another will lead.
      } catch (RequestValidationException e) {
        throw new GroupFailure(GroupFailure.Reason.REFUSED, e.getMessage());
      } catch (RuntimeException e) {
        return failed(e, command);
      }
      writeWarnings(out);
      return out.toByteArray();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
