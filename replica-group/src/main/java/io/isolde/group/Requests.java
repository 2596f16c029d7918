// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import io.isolde.raft.GroupFailure;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

/** What a leader does with requests whose contents only the database understands. */
public interface Requests {
  /**
   * Reads what is stored; called when the group's barrier is passed. Must not block; fails with a
   * {@link GroupFailure}, or with anything else if the request itself is to blame.
   */
  CompletableFuture<byte[]> read(ReplicaGroup group, byte[] request);

  /**
   * Reads what this replica knows by itself, whether it leads or not. Must not block; fails with a
   * {@link GroupFailure} if it can't tell.
   */
  CompletableFuture<byte[]> readMember(ReplicaGroup group, byte[] request);

  /** Decides and writes, see {@link ReplicaGroup#decide}. Must not block. */
  CompletableFuture<byte[]> decide(
      ReplicaGroup group, RequestId id, boolean mayBeRepeated, byte[] request);

  /** What this node is busy with. */
  NodeLoad load();

  /** How many compactions of a group's keyspace this node has before it, as estimated. */
  int compactionsPending(UUID group);

  /**
   * Has this node {@link Membership#join} a group.
   *
   * @param move once for each, however often it is asked for
   */
  CompletableFuture<Void> join(UUID group, UUID move);

  /** Whether a node has taken the place of one of the same address that has lost its data. */
  boolean isSuccessor(String newId, String oldId, String address);
}
