// SPDX-License-Identifier: Apache-2.0
package io.isolde.apply;

import io.isolde.config.NodeClock;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.cassandra.concurrent.Stage;
import org.apache.cassandra.config.Config;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.db.Mutation;
import org.apache.cassandra.io.util.DataInputBuffer;
import org.apache.cassandra.service.StorageService;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The replica's end of outbound queues: applies what comes, as Cassandra applies what others send
 * it.
 */
final class BatchReceiver {
  private static final Logger logger = LoggerFactory.getLogger(BatchReceiver.class);

  private BatchReceiver() {}

  /** Applies what a message holds, and answers it. */
  static byte[] answer(byte[] message) {
    BatchFrames.Frame frame = BatchFrames.decode(message);
    return isLate(frame) ? new byte[frame.items().size()] : apply(frame);
  }

  private static byte[] apply(BatchFrames.Frame frame) {
    List<CompletableFuture<Boolean>> items = new ArrayList<>();
    boolean isAlone = frame.items().size() == 1 && frame.items().get(0).size() == 1;
    for (List<ByteBuffer> item : frame.items()) {
      CompletableFuture<Boolean> all = CompletableFuture.completedFuture(true);
      for (ByteBuffer mutation : item) {
        all = all.thenCombine(apply(mutation, frame.version(), isAlone), Boolean::logicalAnd);
      }
      items.add(all);
    }
    byte[] answer = new byte[items.size()];
    for (int i = 0; i < answer.length; i++) {
      answer[i] = items.get(i).join() ? BatchFrames.DONE : 0;
    }
    return answer;
  }

  /** Those that wait for the disk do so side by side, so that it is for the same sync. */
  private static CompletableFuture<Boolean> apply(
      ByteBuffer mutation, int version, boolean isAlone) {
    return !isAlone && doWritesAwaitDisk()
        ? CompletableFuture.supplyAsync(
            () -> isApplied(mutation, version), Stage.MUTATION.executor())
        : CompletableFuture.completedFuture(isApplied(mutation, version));
  }

  /**
   * As Cassandra drops messages: what was held up for long, as by a pause of this process, could
   * come after a TRUNCATE that did not wait for it.
   */
  private static boolean isLate(BatchFrames.Frame frame) {
    return NodeClock.nowMillis() - frame.sentAtMillis()
        > DatabaseDescriptor.getWriteRpcTimeout(TimeUnit.MILLISECONDS);
  }

  private static boolean doWritesAwaitDisk() {
    return DatabaseDescriptor.getCommitLogSync() != Config.CommitLogSync.periodic;
  }

  /** What can't be applied here is left to Cassandra's own message, which tells why. */
  private static boolean isApplied(ByteBuffer bytes, int version) {
    try (DataInputBuffer in = new DataInputBuffer(bytes, false)) {
      Mutation mutation = Mutation.serializer.deserialize(in, version);
      if (!StorageService.instance.isEndpointValidForWrite(
          mutation.getKeyspaceName(), mutation.key().getToken())) {
        return false;
      }
      TableStores.requireOpen(mutation, 0);
      mutation.apply();
      return true;
    } catch (IOException | RuntimeException e) {
      logger.debug("A part of a commit is to come again in a message of its own.", e);
      return false;
    }
  }
}
