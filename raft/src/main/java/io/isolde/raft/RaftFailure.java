// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft;

import java.util.Optional;

/** Why a request to a {@link RaftReplica} failed. The set is closed. */
public abstract sealed class RaftFailure extends RuntimeException {
  private static final long serialVersionUID = 1L;

  RaftFailure(String message, Throwable cause) {
    super(message, cause);
  }

  /** Whether the request may have been carried out in spite of the failure. */
  public boolean isOutcomeUnknown() {
    return false;
  }

  /** Nothing was done, because this node does not lead; another may. */
  public static final class NotLeader extends RaftFailure {
    private static final long serialVersionUID = 1L;
    private final transient Optional<Peer> leader;

    NotLeader(Optional<Peer> leader, Throwable cause) {
      super("This node does not lead the group; " + hint(leader), cause);
      this.leader = leader;
    }

    private static String hint(Optional<Peer> leader) {
      return leader.map(peer -> peer.id() + " does.").orElse("the leader is not known.");
    }

    /** The leader, if this node knows it. */
    public Optional<Peer> leader() {
      return leader;
    }
  }

  /** Nothing was done, because the node starts, stops, or leads but has not caught up; retry. */
  public static final class NotReady extends RaftFailure {
    private static final long serialVersionUID = 1L;

    NotReady(String message, Throwable cause) {
      super(message, cause);
    }
  }

  /** Nothing was done, because too much is waiting already; retry later. */
  public static final class Overloaded extends RaftFailure {
    private static final long serialVersionUID = 1L;

    Overloaded(String message, Throwable cause) {
      super(message, cause);
    }
  }

  /** No answer: time ran out, or the leader stepped down. The request may be carried out or not. */
  public static final class OutcomeUnknown extends RaftFailure {
    private static final long serialVersionUID = 1L;

    OutcomeUnknown(String message, Throwable cause) {
      super(message, cause);
    }

    @Override
    public boolean isOutcomeUnknown() {
      return true;
    }
  }

  /** The request makes no sense now, such as a hand-over to a stranger; do not retry as it is. */
  public static final class Refused extends RaftFailure {
    private static final long serialVersionUID = 1L;

    Refused(String message, Throwable cause) {
      super(message, cause);
    }
  }
}
