// SPDX-License-Identifier: Apache-2.0
package io.isolde.cli;

import io.isolde.cluster.Network;
import io.isolde.cluster.ToolException;
import io.isolde.torture.CommitLogSync;
import io.isolde.torture.FaultKind;
import io.isolde.torture.Torture;
import io.isolde.torture.TortureOptions;
import io.isolde.torture.TortureReport;
import io.isolde.torture.WorkloadKind;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code isolde torture}. */
@Command(
    name = "torture",
    description = {
      "Run transactions under faults, and check what the clients saw for anomalies.",
      "Nodes are killed, paused, cut off and given wrong clocks, and leaders hand over."
          + " Exit code 1 if there is an anomaly.",
      "On Linux where namespaces are allowed the nodes are hosts of a network of their own;"
          + " elsewhere nothing is cut off."
    })
final class TortureCommand implements Callable<Integer> {
  private static final List<FaultKind> NEED_NO_NETWORK =
      List.of(
          FaultKind.KILL, FaultKind.KILL_ALL, FaultKind.PAUSE, FaultKind.SKEW, FaultKind.HAND_OVER);

  private static final String CLUSTER = "torture";

  @Spec private CommandSpec spec;

  @Mixin private Home home;

  @Option(names = "--minutes", paramLabel = "N", description = "How long to go on.")
  private int minutes = 5;

  @Option(
      names = "--seed",
      paramLabel = "S",
      description = "Of the plan of workloads and faults; drawn unless told.",
      showDefaultValue = CommandLine.Help.Visibility.NEVER)
  private long seed = System.nanoTime() & 0xffff_ffffL;

  @Option(names = "--nodes", paramLabel = "N", description = "Nodes of the cluster.")
  private int nodes = 3;

  @Option(names = "--clients", paramLabel = "N", description = "Clients at the same time.")
  private int clients = 6;

  @Option(
      names = "--faults",
      paramLabel = "FAULT",
      split = ",",
      description = "What may happen, of: ${COMPLETION-CANDIDATES}. All that can be, unless told.")
  private List<FaultKind> faults = List.of();

  @Option(
      names = "--workload",
      paramLabel = "WHAT",
      description =
          "What clients do, of: ${COMPLETION-CANDIDATES}. Strong: single statements on a strong"
              + " keyspace, which are checked for linearizability. Reads: SELECTs of every shape,"
              + " beside those of plain tables, where replicas have missed writes; no other fault"
              + " then.")
  private WorkloadKind workload = WorkloadKind.TRANSACTIONS;

  @Option(
      names = "--commitlog-sync",
      paramLabel = "WHEN",
      description = "Cassandra's commitlog_sync, of: ${COMPLETION-CANDIDATES}.")
  private CommitLogSync commitLogSync = CommitLogSync.PERIODIC;

  @Option(names = "--heap", paramLabel = "MB", description = "Java heap of each node.")
  private int heapMegabytes = 512;

  @Option(names = "--report", paramLabel = "FILE", description = "Write a report there, too.")
  private Path report;

  @Option(names = OwnNetwork.OPTION, hidden = true)
  private boolean isInOwnNetwork;

  @Override
  public Integer call() throws IOException, InterruptedException {
    List<FaultKind> chosen = faults.isEmpty() ? allPossible() : faults;
    boolean needsNetwork = workload != WorkloadKind.READS && !NEED_NO_NETWORK.containsAll(chosen);
    if (needsNetwork && !isInOwnNetwork) {
      return runInOwnNetwork(chosen);
    }
    return run(options(chosen));
  }

  private List<FaultKind> allPossible() {
    if (Network.isPossible()) {
      return List.of(FaultKind.values());
    }
    say("Nodes can't be cut off here: that takes unshare and ip, and leave to use them.");
    return NEED_NO_NETWORK;
  }

  private TortureOptions options(List<FaultKind> chosen) {
    try {
      return new TortureOptions(
          Duration.ofMinutes(minutes),
          seed,
          nodes,
          clients,
          chosen,
          heapMegabytes,
          workload,
          commitLogSync);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage());
    }
  }

  /** Another process with the same command line; what it has of a network ends with it. */
  private int runInOwnNetwork(List<FaultKind> chosen) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.addAll(List.of("torture", OwnNetwork.OPTION, "--home", home.folder().toString()));
    command.addAll(options(chosen).toArguments());
    if (report != null) {
      command.addAll(List.of("--report", report.toAbsolutePath().toString()));
    }
    return OwnNetwork.run(command);
  }

  private int run(TortureOptions options) throws IOException {
    Path folder = home.folderOf(CLUSTER);
    try {
      TortureReport result = Torture.run(options, folder, spec.commandLine().getOut());
      if (report != null) {
        Files.writeString(report, result.toMarkdown());
      }
      say(
          result.isFine()
              ? "No anomaly."
              : "There are anomalies; the nodes' logs are in " + folder);
      return result.isFine() ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
    } catch (ToolException e) {
      throw new CommandFailedException(e.getMessage(), e);
    }
  }

  private void say(String sentence) {
    PrintWriter out = spec.commandLine().getOut();
    out.println(sentence);
    out.flush();
  }
}
