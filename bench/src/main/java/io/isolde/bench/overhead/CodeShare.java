// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.overhead;

import io.isolde.cluster.NodeTool;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedStackTrace;
import jdk.jfr.consumer.RecordingFile;

/**
 * How much of what nodes execute is code of one package, what it calls included: by the samples of
 * their flight recorders. For costs that are smaller than what one run differs from the next.
 */
final class CodeShare {
  private static final String RECORDER = "jdk.management.jfr:type=FlightRecorder";

  /** The JDK's settings with the shorter interval between samples. */
  private static final String SETTINGS = "profile";

  private final Map<NodeTool, Long> recordings = new LinkedHashMap<>();

  /**
   * What was seen.
   *
   * @param samples of threads that were executing Java code
   * @param within how many of them in the package
   */
  record Seen(long samples, long within) {
    double percent() {
      return samples == 0 ? 0 : 100.0 * within / samples;
    }
  }

  private CodeShare() {}

  /** Begins to take samples of these nodes. */
  static CodeShare start(List<NodeTool> nodes) {
    CodeShare share = new CodeShare();
    for (NodeTool node : nodes) {
      Long recording = (Long) node.invoke(RECORDER, "newRecording");
      var unusedSettings = node.invoke(RECORDER, "setPredefinedConfiguration", recording, SETTINGS);
      var unusedStart = node.invoke(RECORDER, "startRecording", recording);
      share.recordings.put(node, recording);
    }
    return share;
  }

  /**
   * Ends it.
   *
   * @param folder that the nodes, too, can write to
   */
  Seen stop(String packageName, Path folder) {
    Seen all = new Seen(0, 0);
    for (Map.Entry<NodeTool, Long> entry : recordings.entrySet()) {
      NodeTool node = entry.getKey();
      Long recording = entry.getValue();
      Path file = folder.resolve("samples-" + node.hashCode() + ".jfr");
      var unusedStop = node.invoke(RECORDER, "stopRecording", recording);
      var unusedCopy = node.invoke(RECORDER, "copyTo", recording, file.toString());
      var unusedClose = node.invoke(RECORDER, "closeRecording", recording);
      Seen seen = read(file, packageName);
      all = new Seen(all.samples() + seen.samples(), all.within() + seen.within());
    }
    return all;
  }

  static Seen read(Path recording, String packageName) {
    long samples = 0;
    long within = 0;
    try (RecordingFile events = new RecordingFile(recording)) {
      while (events.hasMoreEvents()) {
        RecordedEvent event = events.readEvent();
        RecordedStackTrace stack = event.getStackTrace();
        if (event.getEventType().getName().equals("jdk.ExecutionSample") && stack != null) {
          samples++;
          within += isWithin(stack, packageName) ? 1 : 0;
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return new Seen(samples, within);
  }

  private static boolean isWithin(RecordedStackTrace stack, String packageName) {
    return stack.getFrames().stream()
        .anyMatch(frame -> frame.getMethod().getType().getName().startsWith(packageName + "."));
  }
}
