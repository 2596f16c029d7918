// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A directory on a disk of its own that can become full: a file system in memory where this process
 * may mount one, or else directories in which nothing can be made.
 */
final class SmallDisk implements AutoCloseable {
  private final Path directory;
  private final boolean isMounted;

  SmallDisk(Path directory) throws IOException, InterruptedException {
    this.directory = Files.createDirectories(directory);
    this.isMounted =
        run("mount", "-t", "tmpfs", "-o", "size=8m", "isolde-test", directory.toString());
  }

  private static boolean run(String... command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    return process.waitFor(10, TimeUnit.SECONDS) && process.exitValue() == 0;
  }

  void fill() throws IOException {
    if (!isMounted) {
      setPermissions("r-xr-xr-x");
      return;
    }
    try (FileChannel filler =
        FileChannel.open(
            directory.resolve("filler"), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      int bytes = 1 << 16;
      while (bytes > 0) {
        try {
          filler.write(ByteBuffer.allocate(bytes));
        } catch (IOException full) {
          bytes /= 2;
        }
      }
    }
  }

  void free() throws IOException {
    if (isMounted) {
      Files.delete(directory.resolve("filler"));
    } else {
      setPermissions("rwxr-xr-x");
    }
  }

  private void setPermissions(String permissions) throws IOException {
    List<Path> directories = new ArrayList<>();
    try (var all = Files.walk(directory)) {
      all.filter(Files::isDirectory).forEach(directories::add);
    }
    for (Path each : directories) {
      Files.setPosixFilePermissions(each, PosixFilePermissions.fromString(permissions));
    }
  }

  @Override
  public void close() throws IOException, InterruptedException {
    if (isMounted) {
      run("umount", "-l", directory.toString());
    } else {
      setPermissions("rwxr-xr-x");
    }
  }
}
