// SPDX-License-Identifier: Apache-2.0
package io.isolde.cli;

import com.datastax.oss.driver.api.core.CqlSession;
import io.isolde.bench.nodes.TemporaryNode;
import io.isolde.cluster.Distribution;
import io.isolde.cluster.NodeSpec;
import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code isolde demo}. */
@Command(
    name = "demo",
    description = {
      "See transactions on Cassandra, in about a minute.",
      "Money that is transferred and never lost, write skew and what prevents it, and reads of the"
          + " past. On a node of its own, which is gone afterwards.",
      "Exit code 1 if something does not hold that Isolde promises."
    })
final class DemoCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;

  @Option(names = "--keep", description = "Leave the node running, to try more.")
  private boolean isToBeKept;

  @Option(
      names = "--seconds",
      paramLabel = "S",
      defaultValue = "6",
      description = "How long to transfer money.")
  private int seconds;

  @Option(
      names = "--clients",
      paramLabel = "N",
      defaultValue = "6",
      description = "How many transfer money at the same time.")
  private int clients;

  @Override
  public Integer call() {
    if (seconds < 1 || seconds > 60 || clients < 1 || clients > 64) {
      throw new ParameterException(
          spec.commandLine(), "The demo takes 1 to 60 seconds and 1 to 64 clients.");
    }
    DemoScript script = new DemoScript(spec.commandLine().getOut());
    script.title(
        "Isolde: transactions on stock Apache Cassandra %s"
            .formatted(Distribution.ofSystemProperties().cassandraVersion()));
    script.say("Starting a Cassandra node with Isolde's jar; it takes 10 to 30 seconds.");
    NodeSpec node =
        NodeSpec.standard()
            .withEphemeral(!isToBeKept)
            .withIsoldeSetting("version_retention", DemoBank.RETENTION);
    try (TemporaryNode temporary = TemporaryNode.start("demo", node, script.out())) {
      boolean holds = show(temporary, script);
      DemoFarewell farewell = new DemoFarewell(script, temporary);
      if (isToBeKept) {
        temporary.keep();
        farewell.sayHowToGoOn();
      } else {
        farewell.sayHowToTry();
      }
      return holds ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
    }
  }

  /** Returns whether everything was as promised. */
  private boolean show(TemporaryNode temporary, DemoScript script) {
    try (CqlSession session = temporary.connect()) {
      session.execute(
          "CREATE KEYSPACE demo WITH replication = {'class': 'SimpleStrategy',"
              + " 'replication_factor': 1}");
      DemoBank bank = new DemoBank(session, script);
      bank.create();
      bank.transfer(clients, Duration.ofSeconds(seconds));
      new DemoWriteSkew(session, script).show();
      bank.lookBack();
    }
    return script.allHeld();
  }
}
