// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import io.isolde.raft.DurableFile;
import io.isolde.raft.LogPosition;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.CRC32C;

/**
 * Up to where the log is not needed any more, and the state of the log there. All of it up to there
 * is durable in the storage.
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record Checkpoint(LogPosition at, byte[] state) {
  private static final String FILE = "isolde-mark";

  byte[] toBytes() {
    return ByteBuffer.allocate(2 * Long.BYTES + state.length)
        .putLong(at.term())
        .putLong(at.index())
        .put(state)
        .array();
  }

  static Checkpoint ofBytes(byte[] bytes) {
    ByteBuffer in = ByteBuffer.wrap(bytes);
    LogPosition at = new LogPosition(in.getLong(), in.getLong());
    byte[] state = new byte[in.remaining()];
    in.get(state);
    return new Checkpoint(at, state);
  }

  /** Replaces the one before, durably. */
  void save(Path directory) throws IOException {
    byte[] bytes = toBytes();
    ByteArrayOutputStream file = new ByteArrayOutputStream();
    DataOutputStream out = new DataOutputStream(file);
    out.writeInt(bytes.length);
    out.write(bytes);
    out.writeLong(checksum(bytes));
    DurableFile.write(directory.resolve(FILE), file.toByteArray());
  }

  /** The last one that was saved, or null. */
  static Checkpoint load(Path directory) throws IOException {
    Path file = directory.resolve(FILE);
    if (!Files.exists(file)) {
      return null;
    }
    try (DataInputStream in = new DataInputStream(Files.newInputStream(file))) {
      byte[] bytes = new byte[in.readInt()];
      in.readFully(bytes);
      if (in.readLong() != checksum(bytes)) {
        throw new IOException("The file " + file + " is damaged; the node must be replaced.");
      }
      return ofBytes(bytes);
    }
  }

  private static long checksum(byte[] bytes) {
    CRC32C checksum = new CRC32C();
    checksum.update(bytes);
    return checksum.getValue();
  }
}
