// SPDX-License-Identifier: Apache-2.0
package io.isolde.rowlock;

import io.isolde.oracle.lock.LockTable;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/** The messages in which a node asks the oracle's leader for locks. */
final class LockMessages {
  private static final byte ASK = 0;
  private static final byte GIVE_UP = 1;
  private static final byte RELEASE = 2;

  private static final byte NOT_LEADER = -1;

  /** Two ids are checked for each row. */
  private static final int MAX_ASKED = 2 * LockTable.MAX_ROWS_EACH;

  private static final int MAX_ANSWERED = LockTable.MAX_ROWS_EACH + LockTable.MAX_MORE;

  private LockMessages() {}

  /** What a node asks for one of its transactions. */
  sealed interface Message {
    UUID transaction();
  }

  /**
   * Asks for rows; see {@link LockTable#ask}.
   *
   * @param since in microseconds; the answer says which commit has changed the rows since
   * @param reads ids that a reader of the rows would check
   * @param waitMillis after so long the answer is that it still waits
   */
  record Ask(
      UUID transaction,
      Set<Long> ids,
      LockTable.Mode mode,
      long since,
      Set<Long> reads,
      int waitMillis)
      implements Message {}

  /** Wants some rows no more. */
  record GiveUp(UUID transaction, Set<Long> ids) implements Message {}

  /** Has ended. */
  record Release(UUID transaction) implements Message {}

  /**
   * The leader's answer.
   *
   * @param lastCommit the last commit that has changed what was asked for, in microseconds; 0 if
   *     none is known since the timestamp of the question
   */
  record Granted(LockTable.Answer answer, long lastCommit) {}

  static ByteBuf of(Message message) {
    ByteBuf out = Unpooled.buffer();
    if (message instanceof Ask ask) {
      write(out.writeByte(ASK), ask.transaction);
      out.writeByte(code(ask.mode)).writeLong(ask.since).writeInt(ask.waitMillis);
      write(out, ask.ids);
      write(out, ask.reads);
    } else if (message instanceof GiveUp giveUp) {
      write(write(out.writeByte(GIVE_UP), giveUp.transaction), giveUp.ids);
    } else {
      write(out.writeByte(RELEASE), message.transaction());
    }
    return out;
  }

  /**
   * Reads a message.
   *
   * @throws IllegalArgumentException if it is none
   */
  static Message message(ByteBuf in) {
    byte kind = in.readByte();
    UUID transaction = uuid(in);
    return switch (kind) {
      case ASK -> ask(transaction, in);
      case GIVE_UP -> new GiveUp(transaction, ids(in, MAX_ASKED));
      case RELEASE -> new Release(transaction);
      default -> throw new IllegalArgumentException("A message about locks of kind " + kind + ".");
    };
  }

  private static Ask ask(UUID transaction, ByteBuf in) {
    LockTable.Mode mode = mode(in.readByte());
    long since = in.readLong();
    int waitMillis = in.readInt();
    Set<Long> rows = ids(in, MAX_ASKED);
    return new Ask(transaction, rows, mode, since, ids(in, MAX_ASKED), waitMillis);
  }

  /** The answer of a node that leads. */
  static ByteBuf of(Granted granted) {
    LockTable.Answer answer = granted.answer;
    ByteBuf out = Unpooled.buffer();
    out.writeByte(code(answer.outcome())).writeLong(granted.lastCommit);
    out.writeBoolean(answer.inTheWay().isPresent());
    write(out, answer.inTheWay().orElse(new UUID(0, 0)));
    return write(out, answer.lockedByOthers());
  }

  static ByteBuf notLeader() {
    return Unpooled.buffer(1).writeByte(NOT_LEADER);
  }

  /** Returns nothing if the node does not lead. */
  static Optional<Granted> granted(ByteBuf in) {
    byte code = in.readByte();
    if (code == NOT_LEADER) {
      return Optional.empty();
    }
    long lastCommit = in.readLong();
    boolean hasOther = in.readBoolean();
    UUID other = uuid(in);
    return Optional.of(
        new Granted(
            new LockTable.Answer(
                outcome(code),
                hasOther ? Optional.of(other) : Optional.empty(),
                ids(in, MAX_ANSWERED)),
            lastCommit));
  }

  private static byte code(LockTable.Mode mode) {
    return switch (mode) {
      case WAIT -> 0;
      case NOWAIT -> 1;
      case SKIP -> 2;
    };
  }

  private static LockTable.Mode mode(byte code) {
    return switch (code) {
      case 0 -> LockTable.Mode.WAIT;
      case 1 -> LockTable.Mode.NOWAIT;
      case 2 -> LockTable.Mode.SKIP;
      default -> throw new IllegalArgumentException("A lock of mode " + code + ".");
    };
  }

  private static byte code(LockTable.Outcome outcome) {
    return switch (outcome) {
      case GRANTED -> 0;
      case WAITS -> 1;
      case LOCKED -> 2;
      case DEADLOCK -> 3;
      case FULL -> 4;
    };
  }

  private static LockTable.Outcome outcome(byte code) {
    return switch (code) {
      case 0 -> LockTable.Outcome.GRANTED;
      case 1 -> LockTable.Outcome.WAITS;
      case 2 -> LockTable.Outcome.LOCKED;
      case 3 -> LockTable.Outcome.DEADLOCK;
      case 4 -> LockTable.Outcome.FULL;
      default -> throw new IllegalArgumentException("An answer about locks of kind " + code + ".");
    };
  }

  private static ByteBuf write(ByteBuf out, UUID id) {
    return out.writeLong(id.getMostSignificantBits()).writeLong(id.getLeastSignificantBits());
  }

  private static UUID uuid(ByteBuf in) {
    return new UUID(in.readLong(), in.readLong());
  }

  private static ByteBuf write(ByteBuf out, Set<Long> ids) {
    out.writeInt(ids.size());
    ids.forEach(out::writeLong);
    return out;
  }

  private static Set<Long> ids(ByteBuf in, int max) {
    int count = in.readInt();
    if (count < 0 || count > max) {
      throw new IllegalArgumentException("Locks of " + count + " rows.");
    }
    Set<Long> ids = new HashSet<>(2 * count);
    for (int i = 0; i < count; i++) {
      ids.add(in.readLong());
    }
    return ids;
  }
}
