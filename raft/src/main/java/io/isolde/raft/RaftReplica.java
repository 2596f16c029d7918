// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * This node's replica of one group. The futures fail with a {@link GroupFailure}; a leader that
 * loses its majority steps down within an election time-out, which bounds every wait.
 */
public interface RaftReplica {
  /**
   * Appends to the log. Completes when a majority has the entry and this node's state machine has
   * applied it, with the very object that is given here. Only the leader may be asked.
   */
  CompletableFuture<Void> propose(LogData data);

  /**
   * Completes when this node was the leader at a moment after the call, and has applied everything
   * committed before. Within the lease it asks nobody.
   */
  CompletableFuture<Void> barrier();

  /**
   * Whether it is certain, without asking anybody, that this node was the leader at a moment after
   * the call. What is committed before may not be applied yet, unless this node has proposed it and
   * has heard so.
   */
  boolean leadsForSure();

  /**
   * What was proposed in an entry that is applied here. It is in the log at least from the state on
   * that was saved before the last one. May read from disk.
   *
   * @return empty if the log does not have it any more, or it is one of the group's own
   */
  Optional<ByteBuffer> read(long index) throws IOException;

  /** Whether this node leads and is ready to be asked; not while its disk hangs. */
  boolean isLeader();

  /** Who leads, as far as this node knows. */
  Optional<Peer> leader();

  /** The current term. */
  long term();

  /** Up to where this node knows the log to be committed. */
  long committedIndex();

  /** Up to where the state machine has applied the log. */
  long appliedIndex();

  /** The members, as far as this node knows. */
  List<Peer> members();

  /**
   * The members, unless they are being changed, so that those before have a say, too, or still may
   * have: also as long as the last change is not known to be on a majority.
   */
  Optional<List<Peer>> committedMembers();

  /**
   * Changes the members. Only the leader may be asked; the caller adds or removes one at a time,
   * and starts a new member (without initial members) before it adds it.
   *
   * @param before what they are now; else the change is refused
   */
  CompletableFuture<Void> setMembers(List<Peer> before, List<Peer> members);

  /**
   * Hands leadership over. Requests are refused meanwhile; if it fails, this node goes on leading,
   * or steps down if the other may have been elected. One at a time: another fails with {@link
   * GroupFailure.Reason#NOT_LEADER}. So does one to a member that does not answer, at once.
   *
   * @param timeoutMillis when to give up
   */
  CompletableFuture<Void> transferLeadership(String to, long timeoutMillis);

  /** Tells of changes from now on. */
  void addListener(LeaderListener listener);

  /** Why this replica takes part no more, though it was not closed; empty if it does. */
  Optional<String> failure();

  /** What keeps this replica from its work for now, though it has not failed; empty if nothing. */
  Optional<String> problem();
}
