// SPDX-License-Identifier: Apache-2.0
package io.isolde.system;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.AfterTestExecutionCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Fails a test after which a node has found something that was opened and not closed, or closed
 * twice: Cassandra counts references to SSTables, files and memory, and notices those that are
 * collected before they are released. With {@code -Dcassandra.debugrefcount=true} in a node's
 * options its log says who has taken them.
 */
public final class NothingLeaks implements AfterTestExecutionCallback {
  private static final Path CLUSTERS = TestFork.clusters();
  private static final int DEPTH_OF_LOGS = 4;

  /** Those of earlier tests are not told again. Bounded by the leaks of a test run. */
  private static final Set<String> seen = ConcurrentHashMap.newKeySet();

  @Override
  public void afterTestExecution(ExtensionContext context) {
    if (!Files.isDirectory(CLUSTERS)) {
      return;
    }
    try (Stream<Path> files =
        Files.find(CLUSTERS, DEPTH_OF_LOGS, (file, is) -> file.endsWith("logs/system.log"))) {
      List<String> leaks = files.flatMap(NothingLeaks::leaks).filter(seen::add).toList();
      assertThat(leaks).as("what nodes have opened and not closed").isEmpty();
    } catch (IOException | UncheckedIOException e) {
      // Another test has just deleted a cluster.
    }
  }

  static Stream<String> leaks(Path log) {
    try (Stream<String> lines = Files.lines(log)) {
      return lines.filter(NothingLeaks::isLeak).map(line -> log + ": " + line).toList().stream();
    } catch (IOException | UncheckedIOException e) {
      return Stream.empty(); // Likewise.
    }
  }

  static boolean isLeak(String line) {
    return line.contains("LEAK DETECTED") || line.contains("BAD RELEASE");
  }
}
