// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.ratis;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import java.util.zip.CRC32C;
import org.apache.ratis.server.protocol.TermIndex;

/**
 * The last entry that this node has told others to have, in a small file beside the log. It tells a
 * torn end, which nobody has heard of, from damage. A member that has lost the end of its log goes
 * by it: the member votes as if it still had that end.
 *
 * <p>It is written before the acknowledgement goes out, and by a leader before it applies what it
 * has counted itself for. It is not synced: when a process dies the operating system has it. After
 * a power failure it can be older than the log; but what was acknowledged is on disk then, so the
 * end that is torn was not. ("Protocol-aware recovery for consensus-based storage", FAST 2018, has
 * the idea, with a record for each entry.)
 */
final class AcknowledgedEntry implements Closeable {
  private static final String FILE = "acknowledged";
  private static final int CONTENT_BYTES = 2 * Long.BYTES;

  /** Of a new log. */
  static final TermIndex NONE = TermIndex.valueOf(0, -1);

  private final FileChannel file;
  private final boolean isNew;
  private TermIndex last;

  private AcknowledgedEntry(FileChannel file, Optional<TermIndex> last) {
    this.file = file;
    this.isNew = last.isEmpty();
    this.last = last.orElse(NONE);
  }

  /**
   * Opens the file of a group, or makes it.
   *
   * @param directory of the group
   */
  static AcknowledgedEntry open(Path directory) throws IOException {
    Optional<TermIndex> last = read(directory);
    FileChannel file =
        FileChannel.open(
            directory.resolve(FILE), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    AcknowledgedEntry opened = new AcknowledgedEntry(file, last);
    try {
      opened.write(opened.last);
      return opened;
    } catch (IOException e) {
      file.close();
      throw e;
    }
  }

  /** What the file says; empty if there is none, or it is damaged. */
  static Optional<TermIndex> read(Path directory) throws IOException {
    Path file = directory.resolve(FILE);
    if (!Files.exists(file)) {
      return Optional.empty();
    }
    ByteBuffer in = ByteBuffer.wrap(Files.readAllBytes(file));
    if (in.remaining() != CONTENT_BYTES + Long.BYTES
        || in.getLong(CONTENT_BYTES) != checksum(in.array())) {
      return Optional.empty();
    }
    return Optional.of(TermIndex.valueOf(in.getLong(), in.getLong()));
  }

  /** Whether the file was made, so that what the log has must be taken for acknowledged. */
  boolean isNew() {
    return isNew;
  }

  synchronized TermIndex last() {
    return last;
  }

  /** To be called before others hear that this node has the entry. */
  synchronized void raise(TermIndex entry) throws IOException {
    if (entry.compareTo(last) > 0) {
      write(entry);
    }
  }

  /** A leader of a later term has this node give up all after the entry. */
  synchronized void lower(TermIndex entry) throws IOException {
    if (entry.compareTo(last) < 0) {
      write(entry);
    }
  }

  private void write(TermIndex entry) throws IOException {
    ByteBuffer out = ByteBuffer.allocate(CONTENT_BYTES + Long.BYTES);
    out.putLong(entry.getTerm()).putLong(entry.getIndex());
    out.putLong(checksum(out.array())).flip();
    // One small write over the same bytes: the operating system has all of it, or nothing.
    file.write(out, 0);
    last = entry;
  }

  private static long checksum(byte[] bytes) {
    CRC32C checksum = new CRC32C();
    checksum.update(bytes, 0, CONTENT_BYTES);
    return checksum.getValue();
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}
