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
 * Keeps two commands, also of two processes, from starting the same thing at once: each would see
 * that no process is there, and start one. The operating system releases it when its holder dies.
 */
public final class StartLock implements AutoCloseable {

  private final FileChannel channel;

  private StartLock(FileChannel channel) {
    this.channel = channel;
  }

  /**
   * Takes it.
   *
   * @param file is made if it is not there, and stays
   * @param bound for how long to wait while another command has it
   * @param what is started, in words
   * @throws ClusterException TIMEOUT if another command has it for longer; IO
   */
  public static StartLock take(Path file, Duration bound, String what) {
    FileChannel channel = null;
    try {
      channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
      FileChannel open = channel;
      if (!Waiting.until(bound, () -> isTaken(open))) {
        throw new ClusterException(
            Reason.TIMEOUT,
            "Another command has been starting %s for %d s; try again when it is done."
                .formatted(what, bound.toSeconds()));
      }
      channel = null;
      return new StartLock(open);
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
      throw new ClusterException(Reason.IO, "A start can't be locked.", e);
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
      throw new ClusterException(Reason.IO, "The lock of a start can't be released.", e);
    }
  }

  @Override
  public void close() {
    close(channel);
  }
}
