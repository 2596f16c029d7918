// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica;

import io.isolde.oracle.Conflict;
import io.isolde.oracle.Decision;
import io.isolde.oracle.Outcome;
import io.isolde.oracle.Refusal;
import io.isolde.oracle.configuration.Effect;
import java.nio.ByteBuffer;
import java.util.UUID;

/** Answers as bytes. Numbers of kinds are never given twice. */
public final class AnswerCodec {
  private static final byte COMMITTED = 1;
  private static final byte ABORTED = 2;
  private static final byte REFUSED = 3;
  private static final byte SESSION_OPENED = 4;
  private static final byte FENCED = 5;
  private static final byte ENDED_COMMITTED = 6;
  private static final byte ENDED_ABORTED = 7;
  private static final byte ISSUED = 8;
  private static final byte DONE = 9;
  private static final byte REJECTED = 10;
  private static final byte CONFIGURED = 11;

  private AnswerCodec() {}

  public static void encode(Answer answer, Bytes out) {
    if (answer instanceof Answer.Decided decided) {
      encode(decided.decision(), out);
    } else if (answer instanceof Answer.Done) {
      out.put(DONE);
    } else if (answer instanceof Answer.Issued issued) {
      out.put(ISSUED).putLong(issued.timestampMicros());
    } else if (answer instanceof Answer.SessionOpened opened) {
      out.put(SESSION_OPENED).putLong(opened.session());
    } else if (answer instanceof Answer.Fenced) {
      out.put(FENCED);
    } else if (answer instanceof Answer.Ended ended) {
      encode(ended.outcome(), out);
    } else if (answer instanceof Answer.Rejected rejected) {
      out.put(REJECTED).put(codeOf(rejected.reason()));
    } else if (answer instanceof Answer.Configured configured) {
      out.put(CONFIGURED)
          .put(codeOf(configured.effect()))
          .putLong(configured.version())
          .putLong(configured.generation());
    }
  }

  /**
   * The next answer.
   *
   * @throws IllegalArgumentException if that is none
   * @throws java.nio.BufferUnderflowException if it ends too early
   */
  public static Answer decode(ByteBuffer in) {
    byte kind = in.get();
    return switch (kind) {
      case COMMITTED, ABORTED, REFUSED -> new Answer.Decided(decision(kind, in));
      case DONE -> Answer.Done.INSTANCE;
      case ISSUED -> new Answer.Issued(in.getLong());
      case SESSION_OPENED -> new Answer.SessionOpened(in.getLong());
      case FENCED -> Answer.Fenced.INSTANCE;
      case ENDED_COMMITTED -> new Answer.Ended(new Outcome.Committed(in.getLong()));
      case ENDED_ABORTED -> new Answer.Ended(new Outcome.Aborted(conflict(in)));
      case REJECTED -> new Answer.Rejected(rejection(in.get()));
      case CONFIGURED -> new Answer.Configured(effect(in.get()), in.getLong(), in.getLong());
      default -> throw new IllegalArgumentException("There is no answer of kind " + kind + ".");
    };
  }

  private static void encode(Decision decision, Bytes out) {
    if (decision instanceof Decision.Committed committed) {
      out.put(COMMITTED).putLong(committed.commitTimestamp()).putLong(committed.applyAfter());
    } else if (decision instanceof Decision.Aborted aborted) {
      encode(aborted.conflict(), out.put(ABORTED));
    } else if (decision instanceof Decision.Refused refused) {
      out.put(REFUSED).put(codeOf(refused.reason()));
    }
  }

  private static void encode(Outcome outcome, Bytes out) {
    if (outcome instanceof Outcome.Committed committed) {
      out.put(ENDED_COMMITTED).putLong(committed.commitTimestamp());
    } else if (outcome instanceof Outcome.Aborted aborted) {
      encode(aborted.conflict(), out.put(ENDED_ABORTED));
    }
  }

  private static Decision decision(byte kind, ByteBuffer in) {
    return switch (kind) {
      case COMMITTED -> committed(in.getLong(), in.getLong());
      case ABORTED -> new Decision.Aborted(conflict(in));
      case REFUSED -> new Decision.Refused(refusal(in.get()));
      default -> throw new IllegalArgumentException("There is no decision of kind " + kind + ".");
    };
  }

  private static Decision committed(long commitTimestamp, long applyAfter) {
    if (applyAfter >= commitTimestamp) {
      throw new IllegalArgumentException(
          "A commit at " + commitTimestamp + " can't wait for one at " + applyAfter + ".");
    }
    return new Decision.Committed(commitTimestamp, applyAfter);
  }

  private static void encode(Conflict conflict, Bytes out) {
    out.put(codeOf(conflict.kind()))
        .put(conflict.by() == null ? 0 : 1)
        .putLong(conflict.id())
        .putLong(conflict.committedAt());
    if (conflict.by() != null) {
      out.putId(conflict.by());
    }
  }

  private static Conflict conflict(ByteBuffer in) {
    Conflict.Kind kind = conflictKind(in.get());
    boolean hasBy = in.get() != 0;
    long id = in.getLong();
    long committedAt = in.getLong();
    UUID by = hasBy ? Bytes.id(in) : null;
    return new Conflict(kind, id, committedAt, by);
  }

  private static int codeOf(Conflict.Kind kind) {
    return switch (kind) {
      case READ_WRITE -> 1;
      case WRITE_WRITE -> 2;
      case FORGOTTEN -> 3;
      case REQUESTED -> 4;
    };
  }

  private static Conflict.Kind conflictKind(byte code) {
    return switch (code) {
      case 1 -> Conflict.Kind.READ_WRITE;
      case 2 -> Conflict.Kind.WRITE_WRITE;
      case 3 -> Conflict.Kind.FORGOTTEN;
      case 4 -> Conflict.Kind.REQUESTED;
      default -> throw new IllegalArgumentException("There is no conflict of kind " + code + ".");
    };
  }

  private static int codeOf(Refusal refusal) {
    return switch (refusal) {
      case TOO_MANY_PENDING -> 1;
      case IN_DOUBT -> 3; // 2 was another one's
      case ID_TAKEN -> 4;
    };
  }

  private static Refusal refusal(byte code) {
    return switch (code) {
      case 1 -> Refusal.TOO_MANY_PENDING;
      case 3 -> Refusal.IN_DOUBT;
      case 4 -> Refusal.ID_TAKEN;
      default -> throw new IllegalArgumentException("There is no refusal of kind " + code + ".");
    };
  }

  private static int codeOf(Answer.Rejected.Reason reason) {
    return switch (reason) {
      case NO_SUCH_SNAPSHOT -> 1;
      case OUT_OF_WINDOW -> 2;
      case TOO_FAR_AHEAD -> 3;
      case OUTCOME_FORGOTTEN -> 4;
      case PARTS_MISSING -> 5;
      case NO_ROOM_FOR_PARTS -> 6;
    };
  }

  private static Answer.Rejected.Reason rejection(byte code) {
    return switch (code) {
      case 1 -> Answer.Rejected.Reason.NO_SUCH_SNAPSHOT;
      case 2 -> Answer.Rejected.Reason.OUT_OF_WINDOW;
      case 3 -> Answer.Rejected.Reason.TOO_FAR_AHEAD;
      case 4 -> Answer.Rejected.Reason.OUTCOME_FORGOTTEN;
      case 5 -> Answer.Rejected.Reason.PARTS_MISSING;
      case 6 -> Answer.Rejected.Reason.NO_ROOM_FOR_PARTS;
      default -> throw new IllegalArgumentException("There is no rejection of kind " + code + ".");
    };
  }

  private static int codeOf(Effect effect) {
    return switch (effect) {
      case CHANGED -> 1;
      case UNCHANGED -> 2;
      case FULL -> 3;
      case NO_SUCH_GROUP -> 4;
      case SUPERSEDED -> 5;
    };
  }

  private static Effect effect(byte code) {
    return switch (code) {
      case 1 -> Effect.CHANGED;
      case 2 -> Effect.UNCHANGED;
      case 3 -> Effect.FULL;
      case 4 -> Effect.NO_SUCH_GROUP;
      case 5 -> Effect.SUPERSEDED;
      default -> throw new IllegalArgumentException("There is no effect of kind " + code + ".");
    };
  }
}
