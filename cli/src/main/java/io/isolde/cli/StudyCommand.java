// SPDX-License-Identifier: Apache-2.0
package io.isolde.cli;

import io.isolde.cluster.ToolException;
import io.isolde.study.Profile;
import io.isolde.study.Results;
import io.isolde.study.Study;
import io.isolde.study.StudyOptions;
import io.isolde.study.StudyOptions.Running;
import io.isolde.study.StudyPage;
import io.isolde.study.live.NodeSessions.Credentials;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code isolde study}. */
@Command(
    name = "study",
    description = {
      "Measure latency and staleness at pairs of consistency levels, beside what is predicted.",
      "The pairs are the paper's six of nine: R=1 W=3, R=2 W=2, R=3 W=1, R=1 W=2, R=2 W=1 and R=1"
          + " W=1, of 3 replicas.",
      "Starts a local cluster, or takes a running one. A study that was stopped goes on where it"
          + " was; the report is one HTML file."
    })
final class StudyCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Option(
      names = "--folder",
      paramLabel = "FOLDER",
      defaultValue = "staleness-study",
      description =
          "For the report, the JSON and, meanwhile, the cluster. Default: ${DEFAULT-VALUE}.")
  private Path folder;

  @Option(
      names = "--nodes",
      paramLabel = "N",
      defaultValue = "8",
      description = "Nodes of the local cluster.")
  private int nodes;

  @Option(
      names = "--profile",
      paramLabel = "NAME",
      defaultValue = "racks",
      description =
          "Distances between the nodes: none, lan, racks, disks, regions, or a file (see"
              + " docs/staleness.md). A file's cluster has the datacenters that its pairs name, at"
              + " least 3 with `elsewhere:`, and several racks only with `datacenter:`.")
  private String profile;

  @Option(
      names = "--seconds",
      paramLabel = "S",
      defaultValue = "60",
      description =
          "How long each of the weak settings is measured (2 to 3600); strong ones for a third.")
  private int seconds;

  @Option(
      names = "--warmup-seconds",
      paramLabel = "S",
      defaultValue = "30",
      description = "How long the load runs before.")
  private int warmupSeconds;

  @Option(
      names = "--rate",
      paramLabel = "N",
      defaultValue = "30",
      description =
          "Rows per second; each is read 16 times, and one in four is written 4 times. At most"
              + " 100000 rows for each setting.")
  private int rate;

  @Option(
      names = "--max-after",
      paramLabel = "TIME",
      defaultValue = "40ms",
      converter = MillisConverter.class,
      description = "The longest time from a write to a read.")
  private double maxAfterMillis;

  @Option(
      names = "--churn",
      description =
          "At the end, pause, kill, restart and add nodes under load, which goes on until the new"
              + " node has joined, at most 5 minutes longer than --seconds.")
  private boolean hasChurn;

  @Option(
      names = "--heap",
      paramLabel = "MB",
      defaultValue = "320",
      description = "Java heap of each local node.")
  private int heapMegabytes;

  @Option(
      names = "--seed",
      paramLabel = "N",
      defaultValue = "1",
      description = "Of the predictions' random numbers.")
  private long seed;

  @Option(
      names = "--contact-point",
      paramLabel = "NODE",
      description =
          "Study the running cluster with this node: a keyspace isolde_study is made there, with 3"
              + " replicas in all over the cluster's datacenters. Its nodes need"
              + " staleness_sample_one_in: 1 for narrow intervals.")
  private String contactPoint;

  @Mixin private Login login;

  @Override
  public Integer call() throws InterruptedException {
    PrintWriter out = spec.commandLine().getOut();
    Study study =
        new Study(
            options(),
            folder,
            sentence -> {
              out.println(sentence);
              out.flush();
            });
    Results results = study.run();
    out.println("Report: " + new StudyPage(results).write(folder));
    out.flush();
    return CommandLine.ExitCode.OK;
  }

  private StudyOptions options() {
    try {
      return new StudyOptions(
          nodes,
          Profile.of(profile),
          seconds,
          warmupSeconds,
          rate,
          (int) Math.ceil(maxAfterMillis),
          hasChurn,
          heapMegabytes,
          seed,
          running());
    } catch (ToolException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage());
    }
  }

  private Optional<Running> running() {
    Optional<Credentials> credentials = login.credentials(Credentials::new);
    if (contactPoint == null && credentials.isPresent()) {
      throw new ParameterException(
          spec.commandLine(), "--user is for a running cluster: name one (--contact-point).");
    }
    return Optional.ofNullable(contactPoint)
        .map(node -> new Running(NodeAccess.parse(spec, node), credentials));
  }
}
