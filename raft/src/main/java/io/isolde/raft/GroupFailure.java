// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft;

import io.isolde.raft.transport.TransportException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** Why a request to a group, or to its log on this node, failed. The set of reasons is closed. */
public final class GroupFailure extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** What a caller can do about it. Nodes send the names of the reasons to one another. */
  public enum Reason {
    /** Nothing was done: another member leads, or will soon, or this one is not ready yet. */
    NOT_LEADER(false),
    /** Nothing was done: too much is under way. Later it may work. */
    OVERLOADED(false),
    /** Nothing was done, and trying again does not help. */
    REFUSED(false),
    /** Nothing was done: whoever asks was silent for too long, and may not decide. */
    FENCED(false),
    /** It may be done or not; sending it again with the same id finds out. */
    UNKNOWN(true),
    /** No leader answered before the deadline, and none can have done it. */
    TIMED_OUT(false),
    /** No answer came before the deadline; it may be done or not, unless it only asks. */
    TIMED_OUT_UNKNOWN(true),
    /** The client was closed. As {@link #TIMED_OUT_UNKNOWN}. */
    CLOSED(true);

    private final boolean isOutcomeUnknown;

    Reason(boolean isOutcomeUnknown) {
      this.isOutcomeUnknown = isOutcomeUnknown;
    }

    /** Whether the request may have been carried out in spite of the failure. */
    public boolean isOutcomeUnknown() {
      return isOutcomeUnknown;
    }
  }

  private final Reason reason;
  private final transient Optional<Peer> leader;

  /** A failure without a better place to go. */
  public GroupFailure(Reason reason, String message) {
    this(reason, message, Optional.empty(), null);
  }

  /**
   * A failure that says where to go.
   *
   * @param leader who leads, if that is known
   * @param cause null if there is none
   */
  public GroupFailure(Reason reason, String message, Optional<Peer> leader, Throwable cause) {
    super(message, cause);
    this.reason = reason;
    this.leader = leader;
  }

  /** The answer to a request that fails, without a better place to go. */
  public static <T> CompletableFuture<T> future(Reason reason, String message) {
    return CompletableFuture.failedFuture(new GroupFailure(reason, message));
  }

  /** That this node does not lead. */
  public static GroupFailure notLeader(Optional<Peer> leader) {
    String hint = leader.map(peer -> peer.id() + " does.").orElse("the leader is not known.");
    return new GroupFailure(
        Reason.NOT_LEADER, "This node does not lead the group; " + hint, leader, null);
  }

  /** What became of a request to a replica, or to another node. */
  public static GroupFailure of(Throwable failure) {
    Throwable cause =
        failure instanceof CompletionException && failure.getCause() != null
            ? failure.getCause()
            : failure;
    if (cause instanceof GroupFailure known) {
      return known;
    }
    Reason reason =
        cause instanceof TransportException transport ? of(transport.reason()) : Reason.UNKNOWN;
    return new GroupFailure(reason, String.valueOf(cause.getMessage()), Optional.empty(), cause);
  }

  private static Reason of(TransportException.Reason reason) {
    return switch (reason) {
      case UNREACHABLE, OTHER_FORMAT -> Reason.NOT_LEADER;
      case BUSY -> Reason.OVERLOADED;
      default -> Reason.UNKNOWN;
    };
  }

  /** What it is. */
  public Reason reason() {
    return reason;
  }

  /** Who leads, if that is known. */
  public Optional<Peer> leader() {
    return leader == null ? Optional.empty() : leader;
  }
}
