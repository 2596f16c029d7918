// SPDX-License-Identifier: Apache-2.0
package io.isolde.cli;

import io.isolde.cluster.Network;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** This command line again, in a process where nodes can be cut off from one another. */
final class OwnNetwork {
  /** Tells the other process that it is there. */
  static final String OPTION = "--in-own-network";

  private OwnNetwork() {}

  /**
   * Runs it, and returns its exit code. What it has of a network ends with it.
   *
   * @param arguments with {@link #OPTION}
   */
  static int run(List<String> arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(Network.INSIDE);
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    System.getProperties().stringPropertyNames().stream()
        .filter(name -> name.startsWith("isolde.") || name.startsWith("org.slf4j."))
        .forEach(name -> command.add("-D" + name + "=" + System.getProperty(name)));
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), Main.class.getName()));
    command.addAll(arguments);
    return new ProcessBuilder(command).inheritIO().start().waitFor();
  }
}
