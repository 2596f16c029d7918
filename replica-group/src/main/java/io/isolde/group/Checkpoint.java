// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import io.isolde.raft.DurableFile;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.zip.CRC32C;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.storage.FileInfo;
import org.apache.ratis.statemachine.SnapshotInfo;

/**
 * Up to where the log is not needed any more, since all of it is durable in the storage, and the
 * state of the log there. What Ratis calls a snapshot, without data.
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record Checkpoint(TermIndex at, byte[] state) implements SnapshotInfo {
  private static final String FILE = "isolde-mark";

  @Override
  public TermIndex getTermIndex() {
    return at;
  }

  @Override
  public List<FileInfo> getFiles() {
    return List.of();
  }

  byte[] toBytes() {
    return ByteBuffer.allocate(2 * Long.BYTES + state.length)
        .putLong(at.getTerm())
        .putLong(at.getIndex())
        .put(state)
        .array();
  }

  static Checkpoint ofBytes(byte[] bytes) {
    ByteBuffer in = ByteBuffer.wrap(bytes);
    TermIndex at = TermIndex.valueOf(in.getLong(), in.getLong());
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
