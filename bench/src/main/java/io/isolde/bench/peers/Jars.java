// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.peers;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** Where the jars of the peers are. */
final class Jars {
  private Jars() {}

  /** Returns the folder that a system property names, if it is there. */
  static Optional<Path> folder(String property) {
    return Optional.ofNullable(System.getProperty(property))
        .map(Path::of)
        .filter(Files::isDirectory);
  }
}
