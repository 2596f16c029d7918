// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.ratis;

import io.isolde.raft.DurableFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;

/** Finds out whether a disk is well before Ratis uses it, which stops at the first failure. */
final class DiskProbe {
  private static final String FILE = "probe";

  /** More than a new log file takes at once. */
  private static final int BYTES = 1 << 20;

  private DiskProbe() {}

  /**
   * Returns when the disk has taken as much as a log needs to go on.
   *
   * @param directory that is there
   * @throws IOException if it is full, read-only or broken
   */
  static void write(Path directory) throws IOException {
    Path file = directory.resolve(FILE);
    try {
      DurableFile.fill(file, ByteBuffer.allocate(BYTES));
    } finally {
      Files.deleteIfExists(file);
    }
  }
}
