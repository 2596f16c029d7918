// SPDX-License-Identifier: Apache-2.0
package io.isolde.embedded;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

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
    Path next = file.resolveSibling(file.getFileName() + ".next");
    try {
      Files.createDirectories(file.getParent());
      byte[] text = Long.toString(untilMicros).getBytes(StandardCharsets.US_ASCII);
      try (FileChannel channel =
          FileChannel.open(
              next,
              StandardOpenOption.CREATE,
              StandardOpenOption.WRITE,
              StandardOpenOption.TRUNCATE_EXISTING)) {
        ByteBuffer buffer = ByteBuffer.wrap(text);
        while (buffer.hasRemaining()) {
          channel.write(buffer);
        }
        channel.force(true);
      }
      Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
      try (FileChannel directory = FileChannel.open(file.getParent(), StandardOpenOption.READ)) {
        directory.force(true);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("The timestamp reservation " + file + " can't be written.", e);
    }
  }
}
