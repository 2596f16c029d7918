// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.cassandra.io.util.DataInputBuffer;
import org.apache.cassandra.io.util.DataOutputBuffer;
import org.apache.cassandra.utils.ByteBufferUtil;

/**
 * A statement on its way to the leader that decides on it: its text and its values.
 *
 * @param keyspace of all that it names
 * @param texts one for each statement of a batch that came as a list; else one
 * @param values of each text; null and unset ones too
 * @param isPrepared whether the leader should remember the texts
 * @param isList whether it is a batch that came as a list of statements
 */
record DecisionRequest(
    String keyspace,
    List<String> texts,
    List<List<ByteBuffer>> values,
    boolean isPrepared,
    boolean isList,
    int protocolVersion,
    long nowInSeconds) {
  private static final int NULL = -1;
  private static final int UNSET = -2;

  byte[] encode() {
    try (DataOutputBuffer out = new DataOutputBuffer()) {
      out.writeUTF(keyspace);
      out.writeBoolean(isPrepared);
      out.writeBoolean(isList);
      out.writeInt(protocolVersion);
      out.writeLong(nowInSeconds);
      out.writeInt(texts.size());
      for (int i = 0; i < texts.size(); i++) {
        ByteBufferUtil.writeWithLength(ByteBufferUtil.bytes(texts.get(i)), out);
        out.writeInt(values.get(i).size());
        for (ByteBuffer value : values.get(i)) {
          write(value, out);
        }
      }
      return out.toByteArray();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @SuppressWarnings("ReferenceEquality") // an unset value is one object, and equal to an empty one
  private static void write(ByteBuffer value, DataOutputBuffer out) throws IOException {
    if (value == null) {
      out.writeInt(NULL);
    } else if (value == ByteBufferUtil.UNSET_BYTE_BUFFER) {
      out.writeInt(UNSET);
    } else {
      ByteBufferUtil.writeWithLength(value, out);
    }
  }

  static DecisionRequest decode(byte[] bytes) {
    try (DataInputBuffer in = new DataInputBuffer(bytes)) {
      String keyspace = in.readUTF();
      boolean isPrepared = in.readBoolean();
      boolean isList = in.readBoolean();
      int protocolVersion = in.readInt();
      long nowInSeconds = in.readLong();
      int count = in.readInt();
      List<String> texts = new ArrayList<>(count);
      List<List<ByteBuffer>> values = new ArrayList<>(count);
      for (int i = 0; i < count; i++) {
        texts.add(ByteBufferUtil.string(ByteBufferUtil.readWithLength(in)));
        int size = in.readInt();
        List<ByteBuffer> ofText = new ArrayList<>(size);
        for (int j = 0; j < size; j++) {
          ofText.add(read(in));
        }
        values.add(ofText);
      }
      return new DecisionRequest(
          keyspace, texts, values, isPrepared, isList, protocolVersion, nowInSeconds);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static ByteBuffer read(DataInputBuffer in) throws IOException {
    int length = in.readInt();
    return switch (length) {
      case NULL -> null;
      case UNSET -> ByteBufferUtil.UNSET_BYTE_BUFFER;
      default -> ByteBufferUtil.read(in, length);
    };
  }
}
