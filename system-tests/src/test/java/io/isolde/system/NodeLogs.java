// SPDX-License-Identifier: Apache-2.0
package io.isolde.system;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.AfterTestExecutionCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.LifecycleMethodExecutionExceptionHandler;

/**
 * When a test has failed, or what has to be there before all tests, prints the last that the nodes
 * of its cluster had to say about it.
 */
public final class NodeLogs
    implements AfterTestExecutionCallback, LifecycleMethodExecutionExceptionHandler {
  private static final Path CLUSTERS = TestFork.clusters();
  private static final Pattern TELLING =
      Pattern.compile(
          "^(WARN|ERROR) .*|.*\\[(isolde|.*@group|Migration)[^]]*\\].*|.* Gossiper\\..*");
  private static final Duration RECENT = Duration.ofMinutes(5);
  private static final int MAX_LINES = 40;
  private static final int MAX_CHARACTERS = 260;

  /** Of an exception: what it is and where it comes from. */
  private static final int MAX_TRACE_LINES = 6;

  private static final Pattern NEW_ENTRY = Pattern.compile("^(TRACE|DEBUG|INFO|WARN|ERROR) .*");

  @Override
  public void afterTestExecution(ExtensionContext context) {
    if (context.getExecutionException().isPresent()) {
      printAll(context);
    }
  }

  @Override
  public void handleBeforeAllMethodExecutionException(ExtensionContext context, Throwable failure)
      throws Throwable {
    printAll(context);
    throw failure;
  }

  private static void printAll(ExtensionContext context) {
    if (!Files.isDirectory(CLUSTERS)) {
      return;
    }
    try (Stream<Path> files = Files.find(CLUSTERS, 4, (file, is) -> isRecentLog(file))) {
      files.sorted().forEach(file -> print(context.getDisplayName(), file));
    } catch (IOException | UncheckedIOException e) {
      System.err.println("The logs can't be shown: " + e); // A node deletes files meanwhile.
    }
  }

  private static boolean isRecentLog(Path file) {
    try {
      return file.endsWith(Path.of("logs", "system.log"))
          && Files.getLastModifiedTime(file).toInstant().isAfter(Instant.now().minus(RECENT));
    } catch (IOException e) {
      return false; // Another test has just deleted it.
    }
  }

  private static void print(String test, Path file) {
    List<String> telling = new ArrayList<>();
    try (Stream<String> lines = Files.lines(file)) {
      AtomicInteger traceLines = new AtomicInteger();
      lines.forEach(
          line -> {
            if (TELLING.matcher(line).matches()) {
              telling.add(line);
              traceLines.set(line.startsWith("ERROR") ? MAX_TRACE_LINES : 0);
            } else if (!NEW_ENTRY.matcher(line).matches() && traceLines.getAndDecrement() > 0) {
              telling.add(line);
            }
          });
    } catch (IOException | UncheckedIOException e) {
      System.out.println(file + " can't be read: " + e.getMessage());
      return;
    }
    System.out.println(test + " failed; from the end of " + file + ":");
    telling.stream()
        .skip(Math.max(0, telling.size() - MAX_LINES))
        .map(line -> line.substring(0, Math.min(line.length(), MAX_CHARACTERS)))
        .forEach(line -> System.out.println("  " + line));
  }
}
