// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.cluster;

import io.isolde.cluster.Distribution;
import io.isolde.cluster.NodeSpec;
import java.io.IOException;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Properties;

/** A build of Isolde that speaks other formats of messages: this one's jar, which says so. */
record OtherBuild(Path jar) {
  private static final String FORMATS = "/io/isolde/raft/transport/formats.properties";

  /** The newest format that this build speaks. */
  static int newestOfThisBuild() {
    try (FileSystem inside = FileSystems.newFileSystem(ownJar())) {
      Properties formats = new Properties();
      formats.load(new StringReader(Files.readString(inside.getPath(FORMATS))));
      return Integer.parseInt(formats.getProperty("newest"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Path ownJar() {
    return Distribution.ofSystemProperties().plugin().orElseThrow();
  }

  /** One that understands all formats from the oldest to the newest. */
  static OtherBuild ofFormats(int oldest, int newest) {
    Path jar = Path.of("target", "isolde-of-formats-%d-to-%d.jar".formatted(oldest, newest));
    try {
      Files.copy(ownJar(), jar, StandardCopyOption.REPLACE_EXISTING);
      try (FileSystem inside = FileSystems.newFileSystem(jar)) {
        Files.writeString(
            inside.getPath(FORMATS), "newest=%d\noldest=%d\n".formatted(newest, oldest));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return new OtherBuild(jar);
  }

  /** The node with this build in the place of the one that the project makes. */
  NodeSpec on(NodeSpec spec) {
    return spec.withPlugin(false).withClassPathEntry(jar);
  }
}
