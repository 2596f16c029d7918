// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica;

import static java.util.Objects.requireNonNull;

import io.isolde.oracle.CommitRequest;
import io.isolde.oracle.OracleConfig;
import io.isolde.oracle.configuration.ConfigurationReport;
import java.util.UUID;

/** A change of the oracle. It goes through the log, so that every replica makes it. */
public sealed interface Command {

  /**
   * The first command of a leader. From here on nothing is issued that an earlier leader might have
   * given to a reader as a start timestamp. The bounds are this leader's then: replicas with
   * different bounds would decide differently.
   */
  record Lead(OracleConfig config) implements Command {
    public Lead {
      requireNonNull(config);
    }
  }

  /**
   * A coordinator starts. An older session of the same coordinator is fenced by it: the process
   * that had it is gone.
   *
   * @param generation grows with each session that a coordinator asks for, over restarts, too: its
   *     clock will do. Sent again with the same one, it gets the same session; with a smaller one
   *     it is from a process that was replaced, and gets none.
   */
  record OpenSession(UUID coordinator, long generation) implements Command {
    public OpenSession {
      requireNonNull(coordinator);
    }
  }

  /** A coordinator has not been heard of for too long; it may decide nothing any more. */
  record FenceSession(long session) implements Command {}

  /**
   * Asks for a decision. Sent again with the same sequence number, it gets the same answer, also if
   * that is a refusal: to ask again takes a new number.
   *
   * @param session of the coordinator
   * @param sequence counts the coordinator's commits, from 0; see {@link RecentDecisions#WINDOW}
   * @param writeSet what is to be applied if it commits, in whatever form the coordinators agree
   *     on. It is durable with the decision and kept until it is applied, so that others can finish
   *     what a coordinator that dies has left
   * @param staged where the writes came before, if they are too large to come with the commit; else
   *     null. Such a commit is in doubt as soon as it is decided: it takes long to apply, and
   *     nobody else is to wait for that
   */
  @SuppressWarnings("ArrayRecordComponent") // opaque; commands are never compared
  record Commit(long session, int sequence, CommitRequest request, byte[] writeSet, Staged staged)
      implements Command {
    private static final byte[] NOTHING = {};

    public Commit {
      requireNonNull(request);
      requireNonNull(writeSet);
      if (staged != null && writeSet.length > 0) {
        throw new IllegalArgumentException("A commit has its writes staged, or with it.");
      }
    }

    /** One that has its writes with it. */
    public Commit(long session, int sequence, CommitRequest request, byte[] writeSet) {
      this(session, sequence, request, writeSet, null);
    }

    /** One whose writes nobody else can apply. */
    public Commit(long session, int sequence, CommitRequest request) {
      this(session, sequence, request, NOTHING);
    }
  }

  /**
   * A part of the writes of a commit that is to come. Harmless if repeated. Parts are dropped with
   * their session, when the commit is aborted, and if none has come for {@link
   * StagedWrites#KEEP_MICROS}.
   *
   * @param staging names the writes; a coordinator takes a fresh one for each attempt
   * @param number counts the parts, from 0; they come in their order
   * @param totalBytes of all parts: the first one takes room for all
   */
  @SuppressWarnings("ArrayRecordComponent") // opaque; commands are never compared
  record Stage(long session, UUID staging, int number, int totalBytes, byte[] part)
      implements Command {
    public Stage {
      requireNonNull(staging);
      if (number < 0 || part.length == 0 || totalBytes < part.length) {
        throw new IllegalArgumentException(
            "A part has a number and bytes, as many as all at most.");
      }
    }
  }

  /** No commit will take these writes. Harmless if repeated. */
  record Unstage(long session, UUID staging) implements Command {
    public Unstage {
      requireNonNull(staging);
    }
  }

  /**
   * Writes that came before their commit.
   *
   * @param parts how many
   */
  record Staged(UUID id, int parts) {
    public Staged {
      requireNonNull(id);
      if (parts < 1) {
        throw new IllegalArgumentException("What is staged has parts, not " + parts + ".");
      }
    }
  }

  /** The writes of a commit are where every reader will find them. Harmless if repeated. */
  record Applied(long commitTimestamp) implements Command {}

  /**
   * A commit has not been applied for long: snapshots go on without it, and only who needs what it
   * writes waits. Harmless if repeated, or if it is applied already.
   */
  record DeclareInDoubt(long commitTimestamp) implements Command {}

  /**
   * Makes sure that a transaction is decided: aborted, unless it is decided already.
   *
   * @param notBeforeMicros the transaction was not decided at or below this; its start timestamp,
   *     or 0 if nothing is known. If outcomes from above are forgotten, nobody can tell any more.
   */
  record Abort(UUID transactionId, long notBeforeMicros) implements Command {
    public Abort {
      requireNonNull(transactionId);
    }
  }

  /** Issues a timestamp that no commit has, above this one and above all in use. */
  record IssueTimestamp(long aboveMicros) implements Command {}

  /** What a node reports to the configuration manager. Harmless if repeated, or late. */
  record Configure(ConfigurationReport report) implements Command {
    public Configure {
      requireNonNull(report);
    }
  }
}
