// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.stream.Stream;

/** Files that are there as a whole, or not at all, whenever the machine stops; and their end. */
public final class DurableFile {
  private static final String UNFINISHED = ".unfinished";
  private static final String PROBE = "probe";

  private DurableFile() {}

  /** Replaces a small file, or makes it; durable when it returns. */
  public static void write(Path file, byte[] content) throws IOException {
    Path unfinished = file.resolveSibling(file.getFileName() + UNFINISHED);
    fill(unfinished, ByteBuffer.wrap(content));
    rename(unfinished, file);
  }

  /** Makes a file of this content, which is on disk when it returns; what is there goes. */
  public static void fill(Path file, ByteBuffer content) throws IOException {
    try (FileChannel channel =
        FileChannel.open(
            file,
            StandardOpenOption.CREATE,
            StandardOpenOption.WRITE,
            StandardOpenOption.TRUNCATE_EXISTING)) {
      while (content.hasRemaining()) {
        channel.write(content);
      }
      channel.force(true);
    }
  }

  /**
   * Returns when the disk of a directory has taken so many bytes.
   *
   * @throws IOException if it is full, read-only or broken
   */
  public static void probe(Path directory, int bytes) throws IOException {
    Path file = directory.resolve(PROBE);
    try {
      fill(file, ByteBuffer.allocate(bytes));
    } finally {
      Files.deleteIfExists(file);
    }
  }

  /**
   * Gives a file its name, in the place of one that has it; durable when it returns.
   *
   * @param written in the same directory; its content is on disk
   */
  public static void rename(Path written, Path file) throws IOException {
    Files.move(written, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    syncDirectoryOf(file);
  }

  /** Deletes a file if it is there; that is durable when it returns. */
  public static void delete(Path file) throws IOException {
    if (Files.deleteIfExists(file)) {
      syncDirectoryOf(file);
    }
  }

  /** Deletes a directory and all that is in it. */
  public static void deleteTree(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
    syncDirectoryOf(directory);
  }

  private static void syncDirectoryOf(Path file) throws IOException {
    try (FileChannel directory = FileChannel.open(file.getParent(), StandardOpenOption.READ)) {
      directory.force(true);
    }
  }
}
