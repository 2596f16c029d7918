// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.ratis;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;

/**
 * A directory on a disk of its own that can hang: all that is written waits, without an error,
 * until it goes on. It is a file system in a file, which only a process that may mount can have.
 */
final class HangingDisk implements AutoCloseable {
  private static final long BYTES = 96L << 20;

  private final Path image;
  private final Path directory;
  private boolean isHanging;

  /** Skips the test where this process may not mount. */
  HangingDisk(Path image, Path directory) throws IOException, InterruptedException {
    this.image = image;
    this.directory = Files.createDirectories(directory);
    try (FileChannel file =
        FileChannel.open(image, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      file.write(ByteBuffer.allocate(1), BYTES - 1);
    }
    Assumptions.assumeTrue(
        run("mkfs.ext4", "-q", "-F", image.toString())
            && run("mount", "-o", "loop", image.toString(), directory.toString()),
        "This process may not mount a file system.");
  }

  void hang() throws IOException, InterruptedException {
    isHanging = run("fsfreeze", "-f", directory.toString());
    Assumptions.assumeTrue(isHanging, "This file system can't be frozen.");
  }

  void goOn() throws IOException, InterruptedException {
    if (isHanging && !run("fsfreeze", "-u", directory.toString())) {
      throw new IOException("The file system in " + image + " is still frozen.");
    }
    isHanging = false;
  }

  private static boolean run(String... command) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    return process.waitFor(10, TimeUnit.SECONDS) && process.exitValue() == 0;
  }

  @Override
  public void close() throws IOException, InterruptedException {
    goOn();
    run("umount", "-l", directory.toString());
    Files.delete(image);
  }
}
