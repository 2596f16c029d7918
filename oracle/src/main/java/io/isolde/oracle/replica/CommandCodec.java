// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica;

import io.isolde.oracle.CommitRequest;
import io.isolde.oracle.IsolationLevel;
import io.isolde.oracle.OracleConfig;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;

/**
 * Commands and entries as bytes, on the wire and in the log. Numbers of kinds are never given
 * twice: a log may be read by a newer version.
 */
public final class CommandCodec {
  private static final int EXPECTED_BYTES = 64;

  /** Of an entry, before its commands. */
  private static final int ENTRY_BYTES = 3 * Long.BYTES + Integer.BYTES;

  /** Of a commit, with empty lists and without an id. */
  private static final int COMMIT_BYTES =
      2 * Byte.BYTES + 2 * Long.BYTES + Integer.BYTES + 4 * Integer.BYTES;

  private static final int ID_BYTES = 2 * Long.BYTES;
  private static final int STAGE_BYTES = Byte.BYTES + Long.BYTES + ID_BYTES + 3 * Integer.BYTES;

  private static final byte LEAD = 1;
  private static final byte OPEN_SESSION = 2;
  private static final byte FENCE_SESSION = 3;
  private static final byte COMMIT = 4;
  private static final byte APPLIED = 5;
  private static final byte ABORT = 6;
  private static final byte ISSUE_TIMESTAMP = 7;
  private static final byte IN_DOUBT = 8;
  private static final byte STAGE = 9;
  private static final byte UNSTAGE = 10;
  private static final byte CONFIGURE = 11;

  private static final byte SERIALIZABLE = 1;
  private static final byte HAS_ID = 2;

  /** The writes' id and the number of parts follow the transaction's id. */
  private static final byte IS_STAGED = 4;

  private CommandCodec() {}

  public static byte[] encode(LogEntry entry) {
    return encode(entry, Collections.nCopies(entry.commands().size(), null));
  }

  /**
   * An entry whose commands came as bytes, so that they need not be made again.
   *
   * @param encoded as many as there are commands; null for one that is not encoded yet
   */
  public static byte[] encode(LogEntry entry, List<byte[]> encoded) {
    int bytes = encoded.stream().mapToInt(one -> one == null ? EXPECTED_BYTES : one.length).sum();
    Bytes out = new Bytes(ENTRY_BYTES + bytes);
    out.putLong(entry.timeMicros())
        .putLong(entry.floorMicros())
        .putLong(entry.reserveUntilMicros())
        .putInt(entry.commands().size());
    for (int i = 0; i < encoded.size(); i++) {
      byte[] one = encoded.get(i);
      if (one == null) {
        encode(entry.commands().get(i), out);
      } else {
        out.put(one, one.length);
      }
    }
    return out.toArray();
  }

  /**
   * An entry.
   *
   * @throws IllegalArgumentException if that is none
   * @throws java.nio.BufferUnderflowException if it ends too early
   */
  public static LogEntry decodeEntry(ByteBuffer in) {
    long time = in.getLong();
    long floor = in.getLong();
    long reserveUntil = in.getLong();
    int count = in.getInt();
    if (count < 0 || count > in.remaining()) {
      throw new IllegalArgumentException("An entry has " + count + " commands in it.");
    }
    List<Command> commands = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      commands.add(decode(in));
    }
    return new LogEntry(time, floor, reserveUntil, commands);
  }

  /**
   * About as many bytes as a command takes, so that a buffer need not grow; of a commit exactly as
   * many, so that it need not be cut either, as commits carry all that is written.
   */
  public static int expectedBytes(Command command) {
    if (command instanceof Command.Stage stage) {
      return STAGE_BYTES + stage.part().length;
    }
    if (!(command instanceof Command.Commit commit)) {
      return EXPECTED_BYTES;
    }
    CommitRequest request = commit.request();
    int ids = request.reads().length + request.overwrites().length + request.writes().length;
    return COMMIT_BYTES
        + (request.transactionId() == null ? 0 : ID_BYTES)
        + (commit.staged() == null ? 0 : ID_BYTES + Integer.BYTES)
        + ids * Long.BYTES
        + commit.writeSet().length;
  }

  public static void encode(Command command, Bytes out) {
    if (command instanceof Command.Commit commit) {
      encode(commit, out);
    } else if (command instanceof Command.Applied applied) {
      out.put(APPLIED).putLong(applied.commitTimestamp());
    } else if (command instanceof Command.Abort abort) {
      out.put(ABORT).putId(abort.transactionId()).putLong(abort.notBeforeMicros());
    } else if (command instanceof Command.IssueTimestamp issue) {
      out.put(ISSUE_TIMESTAMP).putLong(issue.aboveMicros());
    } else if (command instanceof Command.OpenSession open) {
      out.put(OPEN_SESSION).putId(open.coordinator()).putLong(open.generation());
    } else if (command instanceof Command.FenceSession fence) {
      out.put(FENCE_SESSION).putLong(fence.session());
    } else if (command instanceof Command.DeclareInDoubt inDoubt) {
      out.put(IN_DOUBT).putLong(inDoubt.commitTimestamp());
    } else if (command instanceof Command.Stage stage) {
      out.put(STAGE)
          .putLong(stage.session())
          .putId(stage.staging())
          .putInt(stage.number())
          .putInt(stage.totalBytes())
          .putBytes(stage.part());
    } else if (command instanceof Command.Unstage unstage) {
      out.put(UNSTAGE).putLong(unstage.session()).putId(unstage.staging());
    } else if (command instanceof Command.Configure configure) {
      ReportCodec.encode(configure.report(), out.put(CONFIGURE));
    } else if (command instanceof Command.Lead lead) {
      encode(lead.config(), out.put(LEAD));
    }
  }

  /**
   * The next command.
   *
   * @throws IllegalArgumentException if that is none
   * @throws java.nio.BufferUnderflowException if it ends too early
   */
  public static Command decode(ByteBuffer in) {
    byte kind = in.get();
    return switch (kind) {
      case COMMIT -> decodeCommit(in);
      case APPLIED -> new Command.Applied(in.getLong());
      case ABORT -> new Command.Abort(Bytes.id(in), in.getLong());
      case ISSUE_TIMESTAMP -> new Command.IssueTimestamp(in.getLong());
      case OPEN_SESSION -> new Command.OpenSession(Bytes.id(in), in.getLong());
      case FENCE_SESSION -> new Command.FenceSession(in.getLong());
      case IN_DOUBT -> new Command.DeclareInDoubt(in.getLong());
      case STAGE ->
          new Command.Stage(in.getLong(), Bytes.id(in), in.getInt(), in.getInt(), Bytes.bytes(in));
      case UNSTAGE -> new Command.Unstage(in.getLong(), Bytes.id(in));
      case LEAD -> new Command.Lead(decodeConfig(in));
      case CONFIGURE -> new Command.Configure(ReportCodec.decode(in));
      default -> throw new IllegalArgumentException("There is no command of kind " + kind + ".");
    };
  }

  private static void encode(Command.Commit commit, Bytes out) {
    CommitRequest request = commit.request();
    boolean hasId = request.transactionId() != null;
    boolean isSerializable = request.level() == IsolationLevel.SERIALIZABLE;
    out.put(COMMIT)
        .putLong(commit.session())
        .putInt(commit.sequence())
        .put(
            (isSerializable ? SERIALIZABLE : 0)
                | (hasId ? HAS_ID : 0)
                | (commit.staged() != null ? IS_STAGED : 0));
    if (hasId) {
      out.putId(request.transactionId());
    }
    if (commit.staged() != null) {
      out.putId(commit.staged().id()).putInt(commit.staged().parts());
    }
    out.putLong(request.startTimestamp())
        .putLongs(request.reads())
        .putLongs(request.overwrites())
        .putLongs(request.writes())
        .putBytes(commit.writeSet());
  }

  private static Command decodeCommit(ByteBuffer in) {
    long session = in.getLong();
    int sequence = in.getInt();
    byte flags = in.get();
    UUID id = (flags & HAS_ID) != 0 ? Bytes.id(in) : null;
    Command.Staged staged =
        (flags & IS_STAGED) != 0 ? new Command.Staged(Bytes.id(in), in.getInt()) : null;
    CommitRequest request =
        new CommitRequest(
            id,
            (flags & SERIALIZABLE) != 0 ? IsolationLevel.SERIALIZABLE : IsolationLevel.SNAPSHOT,
            in.getLong(),
            Bytes.longs(in),
            Bytes.longs(in),
            Bytes.longs(in));
    return new Command.Commit(session, sequence, request, Bytes.bytes(in), staged);
  }

  static void encode(OracleConfig config, Bytes out) {
    out.putInt(config.maxRows())
        .putInt(config.maxPendingCommits())
        .putInt(config.maxOutcomes())
        .putLong(config.outcomeRetentionMicros())
        .putLong(config.retentionMicros());
  }

  static OracleConfig decodeConfig(ByteBuffer in) {
    return new OracleConfig(in.getInt(), in.getInt(), in.getInt(), in.getLong(), in.getLong());
  }
}
