// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import io.isolde.raft.Peer;
import io.isolde.raft.RaftFailure;
import io.isolde.raft.TransportException;
import java.util.Optional;
import java.util.concurrent.CompletionException;

/** Why a request to a replica group failed. */
public final class GroupFailure extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** What a caller can do about it. */
  public enum Reason {
    /** Nothing was done: another member leads, or will soon. */
    NOT_LEADER,
    /** Nothing was done: too much is waiting. */
    OVERLOADED,
    /** Nothing was done, and trying again does not help. */
    REFUSED,
    /** It may be done or not; sending it again with the same id finds out. */
    UNKNOWN,
    /** No leader answered before the deadline, and none can have done it. */
    TIMED_OUT,
    /** No answer came before the deadline; it may be done or not. */
    TIMED_OUT_UNKNOWN
  }

  private final Reason reason;
  private final transient Optional<Peer> leader;

  /** Of a write that comes so late that the log has forgotten whether it had it. */
  static GroupFailure forgotten() {
    return new GroupFailure(
        Reason.UNKNOWN, "The write came so late that nobody can tell whether it was done before.");
  }

  /** A failure without a better place to go. */
  public GroupFailure(Reason reason, String message) {
    this(reason, message, Optional.empty(), null);
  }

  GroupFailure(Reason reason, String message, Optional<Peer> leader, Throwable cause) {
    super(message, cause);
    this.reason = reason;
    this.leader = leader;
  }

  /** What it is. */
  public Reason reason() {
    return reason;
  }

  /** Who leads, if that is known. */
  Optional<Peer> leader() {
    return leader == null ? Optional.empty() : leader;
  }

  static GroupFailure notLeader(Optional<Peer> leader) {
    return new GroupFailure(Reason.NOT_LEADER, "This node does not lead the group.", leader, null);
  }

  /** What became of a request to Ratis, or to another node. */
  static GroupFailure of(Throwable failure, Optional<Peer> leader) {
    Throwable cause =
        failure instanceof CompletionException && failure.getCause() != null
            ? failure.getCause()
            : failure;
    if (cause instanceof GroupFailure known) {
      return known;
    }
    Reason reason = Reason.UNKNOWN;
    if (cause instanceof RaftFailure.NotLeader || cause instanceof RaftFailure.NotReady) {
      reason = Reason.NOT_LEADER;
    } else if (cause instanceof RaftFailure.Overloaded) {
      reason = Reason.OVERLOADED;
    } else if (cause instanceof RaftFailure.Refused) {
      reason = Reason.REFUSED;
    } else if (cause instanceof TransportException transport) {
      reason = of(transport.reason());
    }
    return new GroupFailure(reason, String.valueOf(cause.getMessage()), leader, cause);
  }

  private static Reason of(TransportException.Reason reason) {
    return switch (reason) {
      case UNREACHABLE, OTHER_FORMAT -> Reason.NOT_LEADER;
      case BUSY -> Reason.OVERLOADED;
      default -> Reason.UNKNOWN;
    };
  }
}
