// SPDX-License-Identifier: Apache-2.0
package io.isolde.embedded;

import io.isolde.raft.DurableFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A timestamp on disk above all that may have been given out: a small text file, replaced whole.
 */
public final class TimestampReservation {
  private final Path file;

  public TimestampReservation(Path file) {
    this.file = file;
  }

  /** Returns 0 if nothing was ever reserved. */
  long read() {
    if (!Files.exists(file)) {
      return 0;
    }
    try {
      return Long.parseLong(Files.readString(file).strip());
    } catch (IOException e) {
      throw new UncheckedIOException("The timestamp reservation " + file + " can't be read.", e);
    } catch (NumberFormatException e) {
      throw new IllegalStateException(
          "The timestamp reservation "
              + file
              + " is damaged. Write into it a number of microseconds since the epoch that is above"
              + " every commit so far, the time of day will do if the clock is right, and start"
              + " again.",
          e);
    }
  }

  /** Durable when it returns. */
  void write(long untilMicros) {
    try {
      Files.createDirectories(file.getParent());
      DurableFile.write(file, Long.toString(untilMicros).getBytes(StandardCharsets.US_ASCII));
    } catch (IOException e) {
      throw new UncheckedIOException("The timestamp reservation " + file + " can't be written.", e);
    }
  }
}
