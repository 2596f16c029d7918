// SPDX-License-Identifier: Apache-2.0
package io.isolde.cli;

import io.isolde.cluster.LocalCluster;
import java.io.PrintWriter;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code isolde stop}. */
@Command(name = "stop", description = "Stop the development node; its data stays.")
final class StopCommand implements Runnable {

  @Mixin private Home home;
  @Spec private CommandSpec spec;

  @Option(names = "--remove", description = "Delete its data, settings and logs, too.")
  private boolean isToBeRemoved;

  @Override
  public void run() {
    PrintWriter out = spec.commandLine().getOut();
    Path folder = home.folderOf(Home.DEVELOPMENT);
    if (!LocalCluster.exists(folder)) {
      out.println("There is no development node.");
    } else if (isToBeRemoved) {
      LocalCluster.open(folder).remove();
      out.println("The development node is removed.");
    } else {
      LocalCluster.open(folder).stop();
      out.println("The development node is stopped.");
    }
    out.flush();
  }
}
