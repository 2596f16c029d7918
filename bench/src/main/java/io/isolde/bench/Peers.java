// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** Where the jars are of what Isolde is compared with; none of them is on this class path. */
final class Peers {
  static final String SCALARDB_PROPERTY = "isolde.scalardb.dir";
  static final String ACCORD_PROPERTY = "isolde.accord.dir";

  private Peers() {}

  /** Returns the folder that a system property names, if it is there. */
  static Optional<Path> folder(String property) {
    return Optional.ofNullable(System.getProperty(property))
        .map(Path::of)
        .filter(Files::isDirectory);
  }
}
