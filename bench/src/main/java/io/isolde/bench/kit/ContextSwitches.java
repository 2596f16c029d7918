// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.kit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;

/**
 * How often the threads of a process gave up a processor or lost it. A request that is handed from
 * thread to thread pays for each hand-over, and no other number shows it. Only Linux tells;
 * elsewhere all counts are zero.
 */
final class ContextSwitches {
  private static final String FIELD = "ctxt_switches:";

  private ContextSwitches() {}

  /** The counts of a process, by thread. */
  record Count(Map<String, Long> byThread) {

    /**
     * Returns the switches since an earlier count. Those of threads that have ended meanwhile are
     * lost.
     */
    long since(Count earlier) {
      return byThread.entrySet().stream()
          .mapToLong(
              thread -> thread.getValue() - earlier.byThread.getOrDefault(thread.getKey(), 0L))
          .sum();
    }
  }

  /** Counts those of a process so far, voluntary and involuntary ones. */
  static Count of(long pid) {
    Map<String, Long> byThread = new HashMap<>();
    try (Stream<Path> threads = Files.list(Path.of("/proc", Long.toString(pid), "task"))) {
      threads.forEach(thread -> byThread.put(thread.getFileName().toString(), ofThread(thread)));
    } catch (IOException notLinuxOrEnded) {
      return new Count(Map.of());
    }
    return new Count(byThread);
  }

  private static long ofThread(Path thread) {
    try (Stream<String> lines = Files.lines(thread.resolve("status"))) {
      return lines
          .filter(line -> line.contains(FIELD))
          .mapToLong(
              line -> Long.parseLong(line.substring(line.indexOf(FIELD) + FIELD.length()).strip()))
          .sum();
    } catch (IOException | UncheckedIOException ended) {
      return 0;
    }
  }
}
