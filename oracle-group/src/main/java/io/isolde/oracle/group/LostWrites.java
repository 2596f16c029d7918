// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.List;

/** What a node that died asks for when it is back: the writes that it may have lost. */
public final class LostWrites {
  private static final long BEFORE_ALL = -1;

  private LostWrites() {}

  /**
   * Asks for a page of them.
   *
   * @param after where the last page has ended; at first a number below all timestamps
   * @param safeUpTo commits up to here are not needed, but for some
   * @param unsafe those
   * @param begun the commit of which the last page had some parts; 0 if it ended with a whole one
   * @param skippedParts so many parts of it were in that page
   * @param upTo a timestamp that the oracle has issued since: whoever answers must know of all that
   *     was decided before
   */
  public record Question(
      long after, long begun, int skippedParts, long safeUpTo, List<Long> unsafe, long upTo) {
    public Question {
      unsafe = List.copyOf(unsafe);
    }

    /** The question for the first page. */
    public static Question first(long safeUpTo, List<Long> unsafe, long upTo) {
      return new Question(BEFORE_ALL, 0, 0, safeUpTo, unsafe, upTo);
    }

    /** The question for the next page. */
    public Question after(Page page) {
      return new Question(page.end(), page.begun(), page.endParts(), safeUpTo, unsafe, upTo);
    }

    ByteBuf writeTo(ByteBuf out) {
      return Wire.write(out.writeLong(after).writeLong(safeUpTo).writeLong(upTo), unsafe)
          .writeLong(begun)
          .writeInt(skippedParts);
    }

    static Question read(ByteBuf in) {
      long after = in.readLong();
      long safeUpTo = in.readLong();
      long upTo = in.readLong();
      List<Long> unsafe = Wire.longs(in);
      return new Question(after, in.readLong(), in.readInt(), safeUpTo, unsafe, upTo);
    }
  }

  /**
   * The writes of one commit, or a part of them; others follow it at once.
   *
   * @param bytes as its coordinator gave them; none if this part of several is lost
   */
  @SuppressWarnings("ArrayRecordComponent") // opaque; never compared
  public record Commit(long commitTimestamp, byte[] bytes) {}

  /**
   * A page of them, in the order of the commits.
   *
   * @param isWhole false if the log no longer has all that was asked for
   * @param isLast whether no other follows
   * @param end the last commit of which all parts have come; the next page begins after it
   * @param endParts so many parts have come of the commit that follows
   */
  public record Page(
      boolean isWhole, boolean isLast, long end, int endParts, List<Commit> commits) {
    public Page {
      commits = List.copyOf(commits);
    }

    /** The commit of which not all parts have come; 0 if there is none. */
    long begun() {
      return endParts == 0 ? 0 : commits.get(commits.size() - 1).commitTimestamp;
    }

    ByteBuf writeTo(ByteBuf out) {
      out.writeBoolean(isWhole).writeBoolean(isLast).writeLong(end).writeInt(commits.size());
      for (Commit commit : commits) {
        out.writeLong(commit.commitTimestamp).writeInt(commit.bytes.length);
        out.writeBytes(commit.bytes);
      }
      return out.writeInt(endParts);
    }

    static Page read(ByteBuf in) {
      boolean isWhole = in.readBoolean();
      boolean isLast = in.readBoolean();
      long end = in.readLong();
      int count = in.readInt();
      List<Commit> commits = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        long commitTimestamp = in.readLong();
        byte[] bytes = new byte[Math.min(in.readInt(), in.readableBytes())];
        in.readBytes(bytes);
        commits.add(new Commit(commitTimestamp, bytes));
      }
      return new Page(isWhole, isLast, end, in.readInt(), commits);
    }
  }
}
