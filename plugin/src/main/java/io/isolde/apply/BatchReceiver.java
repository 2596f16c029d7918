// SPDX-License-Identifier: Apache-2.0
package io.isolde.apply;

import io.isolde.config.NodeClock;
import io.isolde.oracle.group.Stable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
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

  private final Function<List<Long>, Optional<Stable>> oracle;

  /**
   * @param oracle is told which commits are applied; returns what is stable then, if it leads
   */
  BatchReceiver(Function<List<Long>, Optional<Stable>> oracle) {
    this.oracle = oracle;
  }

  /** Applies what a message holds, and answers it. */
  byte[] answer(byte[] message) {
    BatchFrames.Frame frame = BatchFrames.decode(message);
    List<Boolean> done = isLate(frame) ? none(frame) : apply(frame);
    List<Long> applied = new ArrayList<>(0);
    for (int i = 0; i < done.size(); i++) {
      long commit = frame.items().get(i).appliedCommit();
      if (done.get(i) && commit != BatchFrames.NO_COMMIT) {
        applied.add(commit);
      }
    }
    Optional<Stable> stable = applied.isEmpty() ? Optional.empty() : oracle.apply(applied);
    return BatchFrames.encode(new BatchFrames.Answer(done, stable));
  }

  private static List<Boolean> none(BatchFrames.Frame frame) {
    return frame.items().stream().map(item -> false).toList();
  }

  private static List<Boolean> apply(BatchFrames.Frame frame) {
    List<CompletableFuture<Boolean>> items = new ArrayList<>();
    boolean isAlone = frame.items().size() == 1 && frame.items().get(0).mutations().size() == 1;
    for (BatchFrames.Content item : frame.items()) {
      CompletableFuture<Boolean> all = CompletableFuture.completedFuture(true);
      for (ByteBuffer mutation : item.mutations()) {
        all = all.thenCombine(apply(mutation, frame.version(), isAlone), Boolean::logicalAnd);
      }
      items.add(all);
    }
    return items.stream().map(CompletableFuture::join).toList();
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
