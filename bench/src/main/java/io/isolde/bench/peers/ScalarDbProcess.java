// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.peers;

import io.isolde.bench.kit.BenchOptions;
import io.isolde.bench.kit.Load;
import io.isolde.bench.kit.Measurement;
import io.isolde.bench.kit.Run;
import io.isolde.bench.nodes.ChildProcess;
import io.isolde.bench.nodes.TemporaryFolder;
import io.isolde.cluster.LocalNode;
import io.isolde.cluster.ToolException;
import java.io.File;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Clients of ScalarDB in a process of their own, because of their older driver. They work on plain
 * tables of the same nodes.
 */
public final class ScalarDbProcess implements Load, AutoCloseable {
  private static final String FOLDER_PROPERTY = "isolde.scalardb.dir";

  private final TemporaryFolder folder = new TemporaryFolder("scalardb");
  private final ChildProcess process;

  /** Starts them, and creates and fills their tables; null if their jars are not there. */
  public static ScalarDbProcess startIfThere(List<LocalNode> nodes, Run run) {
    Optional<Path> jars = Jars.folder(FOLDER_PROPERTY);
    if (jars.isEmpty()) {
      run.say("  without ScalarDB: %s names no folder".formatted(FOLDER_PROPERTY));
      return null;
    }
    return new ScalarDbProcess(jars.get(), nodes, run.options());
  }

  private ScalarDbProcess(Path jars, List<LocalNode> nodes, BenchOptions options) {
    String addresses =
        nodes.stream()
            .map(node -> node.contactPoint().getHostString())
            .collect(Collectors.joining(","));
    List<String> arguments =
        List.of(
            addresses,
            Integer.toString(nodes.get(0).contactPoint().getPort()),
            Integer.toString(Math.min(3, nodes.size())),
            Integer.toString(options.rows()),
            Integer.toString(options.rowBytes()),
            Integer.toString(options.inFlight()));
    process =
        ChildProcess.start(
            "scalardb",
            String.join(File.pathSeparator, jars.resolve("*").toString(), ChildProcess.here()),
            ScalarDbMain.class,
            folder.path().resolve("scalardb.log"),
            arguments);
    try {
      var unused = process.ask(ScalarDbMain.LOAD);
    } catch (ToolException e) {
      close();
      throw e;
    }
  }

  /** The requests in flight are those that it was started with. */
  @Override
  public Measurement run(int inFlight, Duration duration) {
    long operations = process.ask(ScalarDbMain.RUN_MILLIS, duration.toMillis());
    long errors = process.ask(ScalarDbMain.ERRORS);
    return new Measurement(
        operations,
        operations / (duration.toNanos() / 1e9),
        process.ask(ScalarDbMain.MEAN_MICROS) / 1e3,
        process.ask(ScalarDbMain.P50_MICROS) / 1e3,
        process.ask(ScalarDbMain.P99_MICROS) / 1e3,
        errors,
        errors == 0 ? Optional.empty() : Optional.of(process.lastWords()));
  }

  @Override
  public void close() {
    process.close();
    folder.close();
  }
}
