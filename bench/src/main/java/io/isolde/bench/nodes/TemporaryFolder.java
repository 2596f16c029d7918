// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.nodes;

import io.isolde.cluster.ToolException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;

/** A folder that is gone when it is closed or when this process ends. */
public final class TemporaryFolder implements AutoCloseable {
  private final Path path;
  private final Thread atExit = new Thread(this::remove, "remove-folder");

  /** Creates it. */
  public TemporaryFolder(String name) {
    try {
      path = Files.createTempDirectory("isolde-" + name + "-");
    } catch (IOException e) {
      throw new ToolException("A folder for temporary files can't be created: " + e + ".", e);
    }
    Runtime.getRuntime().addShutdownHook(atExit);
  }

  /** Returns where it is. */
  public Path path() {
    return path;
  }

  @Override
  public void close() {
    try {
      Runtime.getRuntime().removeShutdownHook(atExit);
    } catch (IllegalStateException alreadyAtExit) {
      return; // which removes it
    }
    remove();
  }

  private void remove() {
    try (var files = Files.walk(path)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (IOException | UncheckedIOException stillInUse) {
      // A child that ends at this moment may write once more; the rest is a temporary file.
    }
  }
}
