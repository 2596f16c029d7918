// SPDX-License-Identifier: Apache-2.0
package io.isolde.watch;

import io.isolde.oracle.group.Changes;
import io.isolde.raft.GroupFailure;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/** The messages in which a node asks a member of the oracle's group, or of another one. */
public final class WatchMessages {
  private static final byte CHANGED = 0;
  private static final byte LOST = 1;
  private static final byte TOO_MANY = 2;
  private static final byte ELSEWHERE = 3;

  private WatchMessages() {}

  /** What a node asks for its client; see {@link Changes#after}. */
  public record Question(OptionalLong after, Set<Long> ids, int waitMillis) {}

  public static ByteBuf of(Question question) {
    ByteBuf out = Unpooled.buffer(17 + Long.BYTES * question.ids.size());
    out.writeBoolean(question.after.isPresent()).writeLong(question.after.orElse(0));
    out.writeInt(question.waitMillis).writeInt(question.ids.size());
    question.ids.forEach(out::writeLong);
    return out;
  }

  public static Question question(ByteBuf in) {
    boolean hasAfter = in.readBoolean();
    long after = in.readLong();
    int waitMillis = in.readInt();
    int count = in.readInt();
    if (count < 0 || count > Watches.MAX_IDS) {
      throw new IllegalArgumentException("A watch of " + count + " rows and ranges.");
    }
    Set<Long> ids = new HashSet<>(2 * count);
    for (int i = 0; i < count; i++) {
      ids.add(in.readLong());
    }
    return new Question(hasAfter ? OptionalLong.of(after) : OptionalLong.empty(), ids, waitMillis);
  }

  public static ByteBuf of(Changes.Notification notification) {
    ByteBuf out = Unpooled.buffer(13 + Long.BYTES * notification.commits().size());
    out.writeByte(notification.isLost() ? LOST : CHANGED).writeLong(notification.position());
    out.writeInt(notification.commits().size());
    notification.commits().forEach(out::writeLong);
    return out;
  }

  static ByteBuf of(GroupFailure failure) {
    boolean isFull = failure.reason() == GroupFailure.Reason.OVERLOADED;
    return Unpooled.buffer(1).writeByte(isFull ? TOO_MANY : ELSEWHERE);
  }

  /**
   * The answer.
   *
   * @throws GroupFailure as {@link Changes#after} fails with
   */
  public static Changes.Notification notification(ByteBuf in) {
    byte kind = in.readByte();
    if (kind == TOO_MANY) {
      throw new GroupFailure(
          GroupFailure.Reason.OVERLOADED, "A member of the oracle has as many watches as it may.");
    }
    if (kind == ELSEWHERE) {
      throw GroupFailure.notLeader(Optional.empty());
    }
    long position = in.readLong();
    int count = in.readInt();
    List<Long> commits = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      commits.add(in.readLong());
    }
    return new Changes.Notification(commits, position, kind == LOST);
  }
}
