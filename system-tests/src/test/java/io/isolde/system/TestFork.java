// SPDX-License-Identifier: Apache-2.0
package io.isolde.system;

import java.nio.file.Path;

/** Two processes run test classes at the same time. This is what each has of its own. */
public final class TestFork {
  /** As the build numbers them, from 1 on. */
  private static final int NUMBER = Integer.getInteger("isolde.test.fork", 1);

  private TestFork() {}

  /** Returns the folder of the clusters that this process makes. */
  public static Path clusters() {
    return Path.of("target", "clusters", Integer.toString(NUMBER));
  }

  /** Returns the file of a name that is this process's alone. */
  static Path file(String name) {
    return Path.of("target", NUMBER + "-" + name);
  }

  /** Returns the address of the node that all classes of this process share. */
  static String sharedAddress() {
    return "127.%d.31.1".formatted(NUMBER - 1);
  }
}
