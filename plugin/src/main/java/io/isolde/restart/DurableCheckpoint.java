// SPDX-License-Identifier: Apache-2.0
package io.isolde.restart;

import io.isolde.raft.DurableFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Up to where all that this node has applied, and that counted, is on its disk.
 *
 * @param isStopped whether the node has stopped since with all that it had on disk
 * @param upTo commits at or below this timestamp are safe, but for some
 * @param unsafe those: they were in doubt then
 */
record DurableCheckpoint(boolean isStopped, long upTo, List<Long> unsafe) {
  static final DurableCheckpoint NOTHING = new DurableCheckpoint(false, 0, List.of());

  private static final String STOPPED = "stopped";
  private static final String RUNNING = "running";

  DurableCheckpoint {
    unsafe = List.copyOf(unsafe);
  }

  DurableCheckpoint stopped() {
    return new DurableCheckpoint(true, upTo, unsafe);
  }

  DurableCheckpoint running() {
    return new DurableCheckpoint(false, upTo, unsafe);
  }

  /** Empty if there is none. */
  static Optional<DurableCheckpoint> read(Path file) throws IOException {
    return Files.exists(file) ? Optional.of(parse(Files.readString(file))) : Optional.empty();
  }

  /** Replaces the one before; durable when it returns. */
  void write(Path file) throws IOException {
    Files.createDirectories(file.getParent());
    DurableFile.write(file, toText().getBytes(StandardCharsets.US_ASCII));
  }

  private String toText() {
    return (isStopped ? STOPPED : RUNNING)
        + " "
        + upTo
        + unsafe.stream().map(timestamp -> " " + timestamp).collect(Collectors.joining())
        + "\n";
  }

  /** What can't be understood stands for nothing: then more is fetched than is needed. */
  private static DurableCheckpoint parse(String text) {
    String[] words = text.strip().split(" ");
    try {
      return new DurableCheckpoint(
          words[0].equals(STOPPED),
          Long.parseLong(words[1]),
          Arrays.stream(words).skip(2).map(Long::valueOf).toList());
    } catch (NumberFormatException | ArrayIndexOutOfBoundsException e) {
      return NOTHING;
    }
  }
}
