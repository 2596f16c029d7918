// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction.lane;

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

/** The replica's end of lanes: applies what comes, as Cassandra applies what others send it. */
final class LaneEnd {
  private static final Logger logger = LoggerFactory.getLogger(LaneEnd.class);
  private static final byte REFUSED = 0;

  /** Returns a byte for each mutation of the message. */
  byte[] answer(byte[] message) {
    LaneFrames.Frame frame = LaneFrames.decode(message);
    List<ByteBuffer> mutations = frame.mutations();
    byte[] answer = new byte[mutations.size()];
    if (isLate(frame)) {
      return answer;
    }
    if (mutations.size() > 1 && doWritesAwaitDisk()) {
      // Side by side, so that they wait for the same sync.
      List<CompletableFuture<Byte>> applied = new ArrayList<>();
      for (ByteBuffer mutation : mutations) {
        applied.add(
            CompletableFuture.supplyAsync(
                () -> apply(mutation, frame.version()), Stage.MUTATION.executor()));
      }
      for (int i = 0; i < answer.length; i++) {
        answer[i] = applied.get(i).join();
      }
    } else {
      for (int i = 0; i < answer.length; i++) {
        answer[i] = apply(mutations.get(i), frame.version());
      }
    }
    return answer;
  }

  /**
   * As Cassandra drops messages: what was held up for long, as by a pause of this process, could
   * come after a TRUNCATE that did not wait for it.
   */
  private static boolean isLate(LaneFrames.Frame frame) {
    return NodeClock.nowMillis() - frame.sentAtMillis()
        > DatabaseDescriptor.getWriteRpcTimeout(TimeUnit.MILLISECONDS);
  }

  private static boolean doWritesAwaitDisk() {
    return DatabaseDescriptor.getCommitLogSync() != Config.CommitLogSync.periodic;
  }

  /** What can't be applied here is left to Cassandra's own message, which tells why. */
  private static byte apply(ByteBuffer bytes, int version) {
    try (DataInputBuffer in = new DataInputBuffer(bytes, false)) {
      Mutation mutation = Mutation.serializer.deserialize(in, version);
      if (!StorageService.instance.isEndpointValidForWrite(
          mutation.getKeyspaceName(), mutation.key().getToken())) {
        return REFUSED;
      }
      mutation.apply();
      return Lane.DONE;
    } catch (IOException | RuntimeException e) {
      logger.debug("A part of a commit is to come again in a message of its own.", e);
      return REFUSED;
    }
  }
}
