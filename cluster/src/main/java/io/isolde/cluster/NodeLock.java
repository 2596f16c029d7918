// SPDX-License-Identifier: Apache-2.0
package io.isolde.cluster;

import io.isolde.cluster.ClusterException.Reason;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;

/**
 * Keeps two commands, also of two processes, from starting the same node at once: each would see
 * that no process is there, and start one. The operating system releases it when its holder dies.
 */
final class NodeLock implements AutoCloseable {

  /** A start that holds it looks at three ports and starts a process. */
  private static final Duration BOUND = Duration.ofSeconds(30);

  private final FileChannel channel;

  private NodeLock(FileChannel channel) {
    this.channel = channel;
  }

  /** Waits for its turn, for a bounded time. */
  static NodeLock take(Path file) {
    FileChannel channel = null;
    try {
      channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
      FileChannel open = channel;
      if (!Waiting.until(BOUND, () -> isTaken(open))) {
        throw new ClusterException(
            Reason.TIMEOUT,
            "Another command has been starting the node of %s for %d s; try again when it is done."
                .formatted(file.getParent(), BOUND.toSeconds()));
      }
      channel = null;
      return new NodeLock(open);
    } catch (IOException e) {
      throw new ClusterException(Reason.IO, "The file %s can't be written.".formatted(file), e);
    } finally {
      close(channel);
    }
  }

  private static boolean isTaken(FileChannel channel) {
    try {
      FileLock lock = channel.tryLock();
      return lock != null;
    } catch (OverlappingFileLockException anotherThreadHasIt) {
      return false;
    } catch (IOException e) {
      throw new ClusterException(Reason.IO, "A node can't be locked for its start.", e);
    }
  }

  /** Closing the file releases the lock. */
  private static void close(FileChannel channel) {
    if (channel == null) {
      return;
    }
    try {
      channel.close();
    } catch (IOException e) {
      throw new ClusterException(Reason.IO, "The lock of a node can't be released.", e);
    }
  }

  @Override
  public void close() {
    close(channel);
  }
}
