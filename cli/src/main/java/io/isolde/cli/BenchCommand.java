// SPDX-License-Identifier: Apache-2.0
package io.isolde.cli;

import io.isolde.bench.Benches;
import io.isolde.bench.kit.BenchOptions;
import io.isolde.bench.kit.NodeShare;
import io.isolde.cluster.Network;
import io.isolde.cluster.ToolException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code isolde bench}. */
@Command(
    name = "bench",
    description = {
      "Measure Isolde against stock Cassandra on this machine, on nodes that are gone afterwards.",
      "Nothing else should run meanwhile: the nodes and their clients share the cores."
    })
final class BenchCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "NAME", arity = "0..1", description = "Which one; --list shows all.")
  private String name;

  @Option(names = "--list", description = "List the benchmarks.")
  private boolean isListRequested;

  @Option(names = "--json", paramLabel = "FILE", description = "Write the report there, too.")
  private Path json;

  @Option(
      names = "--figures",
      paramLabel = "FOLDER",
      description = "Write pictures of what was measured there, if the benchmark has any.")
  private Path figures;

  @Option(names = "--rounds", paramLabel = "N", description = "How often each case is measured.")
  private int rounds = BenchOptions.DEFAULTS.rounds();

  @Option(
      names = "--seconds",
      paramLabel = "S",
      description = "How long a case is measured in a round.")
  private int seconds = BenchOptions.DEFAULTS.seconds();

  @Option(
      names = "--warmup-seconds",
      paramLabel = "S",
      description =
          "How long each case runs at most before the first round, until its code is compiled.")
  private int warmupSeconds = BenchOptions.DEFAULTS.warmupSeconds();

  @Option(
      names = "--in-flight",
      paramLabel = "N",
      description = "Requests that wait for an answer at any time.")
  private int inFlight = BenchOptions.DEFAULTS.inFlight();

  @Option(names = "--rows", paramLabel = "N", description = "Rows of a table.")
  private int rows = BenchOptions.DEFAULTS.rows();

  @Option(names = "--row-bytes", paramLabel = "N", description = "Size of a row's value.")
  private int rowBytes = BenchOptions.DEFAULTS.rowBytes();

  @Option(
      names = "--storm",
      paramLabel = "N",
      description = "Updates per second during the cases under a storm.")
  private int stormPerSecond = BenchOptions.DEFAULTS.stormPerSecond();

  @Option(names = "--heap", paramLabel = "MB", description = "Java heap of each node.")
  private int heapMegabytes = BenchOptions.DEFAULTS.heapMegabytes();

  @Option(
      names = "--soak-minutes",
      paramLabel = "N",
      description = "Go on for so long after the rounds, to see whether memory stays flat.")
  private int soakMinutes = BenchOptions.DEFAULTS.soakMinutes();

  @Option(
      names = "--node-cores",
      paramLabel = "N",
      description =
          "Processors that each node may use in leadership, once it is warm, such as 0.5; 0: all."
              + " Linux only, as root.")
  private double nodeCores = NodeShare.ALL.cores();

  @Option(
      names = "--node-disk",
      paramLabel = "MB",
      description =
          "MB per second of the disk that each node has of its own in leadership, once it is warm;"
              + " 0: nodes share the machine's. Linux only, as root.")
  private int nodeDiskMegabytes = NodeShare.ALL.diskMegabytesPerSecond();

  @Option(
      names = "--runs",
      paramLabel = "N",
      description = "How often all of it is done, on new nodes each time.")
  private int runs = BenchOptions.DEFAULTS.runs();

  @Option(
      names = "--against",
      paramLabel = "JAR",
      description = "The isolde.jar of another build, for builds; may be given several times.")
  private List<Path> against = List.of();

  @Option(
      names = "--watchers",
      paramLabel = "N",
      description = "Clients that watch the same row in notifications, 10000 at most.")
  private int watchers = BenchOptions.DEFAULTS.watchers();

  @Option(names = OwnNetwork.OPTION, hidden = true)
  private boolean isInOwnNetwork;

  @Override
  public Integer call() throws IOException, InterruptedException {
    PrintWriter out = spec.commandLine().getOut();
    if (isListRequested) {
      Benches.names()
          .forEach(each -> out.printf("%-16s %s%n", each, Benches.named(each).summary()));
      out.flush();
      return CommandLine.ExitCode.OK;
    }
    String chosen = requireKnown();
    BenchOptions options = options();
    if (Benches.named(chosen).wantsOwnNetwork() && !isInOwnNetwork && Network.isPossible()) {
      List<String> same = new ArrayList<>(root().getParseResult().originalArgs());
      same.add(OwnNetwork.OPTION);
      return OwnNetwork.run(same);
    }
    try {
      Benches.run(chosen, json, figures, options, out);
      return CommandLine.ExitCode.OK;
    } catch (ToolException e) {
      PrintWriter err = spec.commandLine().getErr();
      err.println(spec.commandLine().getColorScheme().errorText(e.getMessage()));
      err.flush();
      return CommandLine.ExitCode.SOFTWARE;
    }
  }

  private CommandLine root() {
    return spec.root().commandLine();
  }

  private String requireKnown() {
    if (name == null) {
      throw refused("Name a benchmark: %s.".formatted(String.join(", ", Benches.names())));
    }
    try {
      return Benches.named(name).name();
    } catch (IllegalArgumentException e) {
      throw refused(e.getMessage());
    }
  }

  private BenchOptions options() {
    try {
      return new BenchOptions(
          rounds,
          seconds,
          warmupSeconds,
          inFlight,
          rows,
          rowBytes,
          stormPerSecond,
          heapMegabytes,
          soakMinutes,
          new NodeShare(nodeCores, nodeDiskMegabytes),
          runs,
          against,
          watchers,
          isInOwnNetwork);
    } catch (IllegalArgumentException e) {
      throw refused(e.getMessage());
    }
  }

  private ParameterException refused(String sentence) {
    return new ParameterException(spec.commandLine(), sentence);
  }
}
