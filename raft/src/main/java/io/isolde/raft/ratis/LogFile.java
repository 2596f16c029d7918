// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.ratis;

import io.isolde.raft.DurableFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.thirdparty.com.google.protobuf.CodedInputStream;

/**
 * A file of a log as Ratis 3.3.0 writes it: a header, entries, zeros up to its end. An entry is its
 * length as a varint, itself, and the CRC32C of both.
 */
final class LogFile {
  private static final byte[] HEADER = "RaftLog1".getBytes(StandardCharsets.UTF_8);
  private static final int CHECKSUM_BYTES = 4;

  /** An entry begins with its term: field 1, a varint. */
  private static final byte FIRST_TAG = 1 << 3;

  /** Of checksums, when entries are searched in what can't be read. */
  private static final long MAX_SEARCHED_BYTES = 1L << 28;

  /**
   * Whole entries without a gap.
   *
   * @param starts where each begins
   * @param end where the last one ends
   */
  record Entries(long first, List<Integer> starts, int end) {
    long count() {
      return starts.size();
    }

    /** Where an entry begins, or else the first one, or would the next one. */
    int startOf(long index) {
      long at = Math.max(0, index - first);
      return at < starts.size() ? starts.get((int) at) : end;
    }
  }

  private record Found(long index, int end) {}

  private final Path path;
  private final byte[] bytes;
  private final int headerBytes;

  private LogFile(Path path, byte[] bytes) {
    this.path = path;
    this.bytes = bytes;
    this.headerBytes = headerBytes(bytes);
  }

  /** Reads the file, which is as large as the largest part of a log, and a little more. */
  static LogFile read(Path path) throws IOException {
    return new LogFile(path, Files.readAllBytes(path));
  }

  private static int headerBytes(byte[] bytes) {
    int same = 0;
    while (same < HEADER.length && same < bytes.length && bytes[same] == HEADER[same]) {
      same++;
    }
    return same;
  }

  boolean hasHeader() {
    return headerBytes == HEADER.length;
  }

  /** Whether the file was being begun; Ratis deletes it. */
  boolean isHeaderTorn() {
    return !hasHeader() && isEmptyFrom(headerBytes);
  }

  boolean isEmptyFrom(int position) {
    for (int i = position; i < bytes.length; i++) {
      if (bytes[i] != 0) {
        return false;
      }
    }
    return true;
  }

  /** The whole entries at the beginning: from this index on, and up to that one at most. */
  Entries entriesFrom(long first, long last) {
    List<Integer> starts = new ArrayList<>();
    int position = HEADER.length;
    long index = first;
    while (hasHeader() && index <= last) {
      Found entry = entryAt(position);
      if (entry == null || entry.index() != index) {
        break;
      }
      starts.add(position);
      position = entry.end();
      index++;
    }
    return new Entries(first, starts, position);
  }

  /** Whether what can't be read is followed by an entry, of this index or a later one. */
  boolean hasEntryAfter(int position, long index) {
    long searched = 0;
    for (int at = position + 1; at < bytes.length; at++) {
      int length = bytes[at] == 0 ? 0 : lengthAt(at);
      if (length <= 0 || bytes[at + varintBytes(length)] != FIRST_TAG) {
        continue;
      }
      searched += length;
      if (searched > MAX_SEARCHED_BYTES) {
        return true; // Nothing is cut of what is not understood.
      }
      Found entry = entryAt(at);
      if (entry != null && entry.index() >= index) {
        return true;
      }
    }
    return false;
  }

  private static int varintBytes(int length) {
    return (Integer.SIZE - Integer.numberOfLeadingZeros(length) + 6) / 7;
  }

  /** The length that stands here; 0 if there can't be an entry of that length. */
  private int lengthAt(int position) {
    int length = 0;
    for (int i = 0; i < 4 && position + i < bytes.length; i++) {
      byte next = bytes[position + i];
      length |= (next & 0x7f) << (7 * i);
      if (next >= 0) {
        long end = (long) position + i + 1 + length + CHECKSUM_BYTES;
        boolean isShortest = varintBytes(length) == i + 1;
        return end <= bytes.length && isShortest ? length : 0;
      }
    }
    return 0;
  }

  /** The entry here; null if there is no whole one. */
  private Found entryAt(int position) {
    int length = lengthAt(position);
    if (length == 0) {
      return null;
    }
    int from = position + varintBytes(length);
    int end = from + length;
    CRC32C checksum = new CRC32C();
    checksum.update(bytes, position, end - position);
    int written = ByteBuffer.wrap(bytes).order(ByteOrder.BIG_ENDIAN).getInt(end);
    if ((int) checksum.getValue() != written) {
      return null;
    }
    try {
      LogEntryProto entry =
          LogEntryProto.parseFrom(CodedInputStream.newInstance(bytes, from, length));
      return new Found(entry.getIndex(), end + CHECKSUM_BYTES);
    } catch (IOException notAnEntry) {
      return null;
    }
  }

  /** Moves the end of the file into another one, durably; what is there already goes. */
  void moveEnd(int from, Path to) throws IOException {
    int end = bytes.length;
    while (end > from && bytes[end - 1] == 0) {
      end--;
    }
    DurableFile.fill(to, ByteBuffer.wrap(bytes, from, end - from));
    try (FileChannel file = FileChannel.open(path, StandardOpenOption.WRITE)) {
      file.truncate(from);
      file.force(true);
    }
  }

  /** Writes the same bytes once more, and has the whole file on disk when it returns. */
  void writeAgain(int from, int to) throws IOException {
    try (FileChannel file = FileChannel.open(path, StandardOpenOption.WRITE)) {
      file.position(from);
      ByteBuffer content = ByteBuffer.wrap(bytes, from, Math.max(0, to - from));
      while (content.hasRemaining()) {
        file.write(content);
      }
      file.force(true);
    }
  }
}
