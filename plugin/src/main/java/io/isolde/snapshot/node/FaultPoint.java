// SPDX-License-Identifier: Apache-2.0
package io.isolde.snapshot.node;

import io.isolde.snapshot.protocol.Step;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Where tests have a node die or fail, in the middle of a snapshot: the file that the system
 * property {@code isolde.snapshot.fault} names holds a point and what happens there, {@code
 * LOAD:halt} or {@code LOAD:fail}. Points are the steps, and those of the creator. Without the
 * property nothing is looked at.
 */
final class FaultPoint {
  private static final String FILE = System.getProperty("isolde.snapshot.fault");
  private static final int KILLED = 137;

  private FaultPoint() {}

  static void reached(Step step) throws IOException {
    reached(step.name());
  }

  /** The creator has changed the schema, and told nobody but Cassandra yet. */
  static void creatorReached(String point) {
    try {
      reached(point);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void reached(String point) throws IOException {
    if (FILE == null || !Files.exists(Path.of(FILE))) {
      return;
    }
    String fault = Files.readString(Path.of(FILE)).strip();
    if (fault.equals(point + ":halt")) {
      Runtime.getRuntime().halt(KILLED);
    } else if (fault.equals(point + ":fail")) {
      throw new IOException("No space left on device");
    }
  }
}
