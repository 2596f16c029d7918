// SPDX-License-Identifier: Apache-2.0
package io.isolde.cli;

import io.isolde.cluster.Distribution;
import java.io.PrintWriter;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code isolde version}. */
@Command(name = "version", description = "Show the versions of Isolde, Cassandra and Java.")
final class VersionCommand implements Runnable {

  @Spec private CommandSpec spec;

  @Override
  public void run() {
    PrintWriter out = spec.commandLine().getOut();
    String isolde = Main.class.getPackage().getImplementationVersion();
    out.println("Isolde " + (isolde == null ? "(not packaged)" : isolde));
    out.println("Apache Cassandra " + Distribution.ofSystemProperties().cassandraVersion());
    out.println("Java " + Runtime.version());
    out.flush();
  }
}
