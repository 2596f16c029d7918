// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica;

import static java.util.Objects.requireNonNull;

import io.isolde.oracle.CommitRequest;
import io.isolde.oracle.OracleConfig;
import java.util.UUID;

/** A change of the oracle. It goes through the log, so that every replica makes it. */
public sealed interface Command {

  /**
   * The first command of a leader. From here on nothing is issued that an earlier leader might have
   * given to a reader as a start timestamp, and the bounds are this leader's: replicas with
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
   */
  record OpenSession(UUID coordinator) implements Command {
    public OpenSession {
      requireNonNull(coordinator);
    }
  }

  /** A coordinator has not been heard of for too long; it may decide nothing any more. */
  record FenceSession(long session) implements Command {}

  /**
   * Asks for a decision. Sent again with the same sequence number, it gets the same answer.
   *
   * @param session of the coordinator
   * @param sequence counts the coordinator's commits, from 0; see {@link RecentDecisions#WINDOW}
   */
  record Commit(long session, int sequence, CommitRequest request) implements Command {
    public Commit {
      requireNonNull(request);
    }
  }

  /** The writes of a commit are where every reader will find them. Harmless if repeated. */
  record Applied(long commitTimestamp) implements Command {}

  /** Makes sure that a transaction is decided: aborted, unless it is decided already. */
  record Abort(UUID transactionId) implements Command {
    public Abort {
      requireNonNull(transactionId);
    }
  }

  /** Issues a timestamp that no commit has, above this one and above all in use. */
  record IssueTimestamp(long aboveMicros) implements Command {}
}
