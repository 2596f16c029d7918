// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica;

import static java.util.Objects.requireNonNull;

import io.isolde.oracle.Decision;
import io.isolde.oracle.Outcome;

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

  /** To {@link Command.Commit} of a session that is not open: nothing is decided, nor will be. */
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

  /** To the commands that have no result. */
  record Done() implements Answer {
    static final Done INSTANCE = new Done();
  }
}
