// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica;

import static java.util.Objects.requireNonNull;

import io.isolde.oracle.Decision;
import io.isolde.oracle.Outcome;
import io.isolde.oracle.configuration.Effect;

/** What a replica answers to a {@link Command}. All replicas answer the same. */
public sealed interface Answer {

  /** To {@link Command.Commit}. */
  record Decided(Decision decision) implements Answer {
    public Decided {
      requireNonNull(decision);
    }
  }

  /** To {@link Command.OpenSession}: sessions are numbered from 1. */
  record SessionOpened(long session) implements Answer {}

  /**
   * To {@link Command.Commit} of a session that is not open: it decides nothing any more. If the
   * commit was sent before, it may have been decided then, and the outcome is not known; a known
   * one is answered instead. To {@link Command.Stage} of such a session, and to {@link
   * Command.OpenSession} of an earlier generation.
   */
  record Fenced() implements Answer {
    static final Fenced INSTANCE = new Fenced();
  }

  /** To {@link Command.Abort}. */
  record Ended(Outcome outcome) implements Answer {
    public Ended {
      requireNonNull(outcome);
    }
  }

  /** To {@link Command.IssueTimestamp}. */
  record Issued(long timestampMicros) implements Answer {}

  /**
   * To {@link Command.Configure}.
   *
   * @param version of the configuration then
   * @param generation of the newest registration of that entry in its term; 0 if there is none
   */
  record Configured(Effect effect, long version, long generation) implements Answer {
    public Configured {
      requireNonNull(effect);
    }
  }

  /** To a command that can't be carried out. Nothing is decided, nor will be. */
  record Rejected(Reason reason) implements Answer {

    /** Why. */
    public enum Reason {
      /** A commit's start timestamp is no snapshot that there ever was. */
      NO_SUCH_SNAPSHOT,
      /** A commit's sequence number is not in the {@link RecentDecisions#WINDOW}. */
      OUT_OF_WINDOW,
      /** The timestamp asked for is beyond {@link OracleReplica#LATEST_MICROS}. */
      TOO_FAR_AHEAD,
      /** A transaction to abort may have been decided so long ago that it is forgotten how. */
      OUTCOME_FORGOTTEN,
      /** Parts of a commit's writes are not here: they were dropped, or came out of order. */
      PARTS_MISSING,
      /** There is no room for another part; there may be later. */
      NO_ROOM_FOR_PARTS
    }

    public Rejected {
      requireNonNull(reason);
    }
  }

  /** To the commands that have no result, and to a {@link Command.Stage} that is kept. */
  record Done() implements Answer {
    static final Done INSTANCE = new Done();
  }
}
