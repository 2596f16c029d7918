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
 * @param unsafe those: they were set aside then
 */
record DurableMark(boolean isStopped, long upTo, List<Long> unsafe) {
  static final DurableMark NOTHING = new DurableMark(false, 0, List.of());

  private static final String STOPPED = "stopped";
  private static final String RUNNING = "running";

  DurableMark {
    unsafe = List.copyOf(unsafe);
  }

  DurableMark stopped() {
    return new DurableMark(true, upTo, unsafe);
  }

  DurableMark running() {
    return new DurableMark(false, upTo, unsafe);
  }

  /** Empty if there is none. */
  static Optional<DurableMark> read(Path file) throws IOException {
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
  private static DurableMark parse(String text) {
    String[] words = text.strip().split(" ");
    try {
      return new DurableMark(
          words[0].equals(STOPPED),
          Long.parseLong(words[1]),
          Arrays.stream(words).skip(2).map(Long::valueOf).toList());
    } catch (NumberFormatException | ArrayIndexOutOfBoundsException e) {
      return NOTHING;
    }
  }
}
