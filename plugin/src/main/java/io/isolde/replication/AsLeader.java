// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import io.isolde.group.NodeLoad;
import io.isolde.group.ReplicaGroup;
import io.isolde.group.RequestId;
import io.isolde.group.Requests;
import io.isolde.raft.GroupFailure;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.apache.cassandra.locator.InetAddressAndPort;
import org.apache.cassandra.service.StorageService;

/** What this node does for others, nearly all of it while it leads. */
final class AsLeader implements Requests {
  private final LeaderDecisions decisions;

  /** Set before anybody asks. */
  volatile StrongKeyspaces keyspaces;

  AsLeader(long timeoutMillis) {
    this.decisions = new LeaderDecisions(timeoutMillis);
  }

  @Override
  public CompletableFuture<byte[]> read(ReplicaGroup group, byte[] request) {
    return GroupWatches.isQuestion(request)
        ? LeaderReads.onReadThread(
            () -> GroupWatches.answer(keyspaces.recentChanges(), group, request))
        : LeaderReads.answer(request);
  }

  @Override
  public CompletableFuture<byte[]> readMember(ReplicaGroup group, byte[] request) {
    return GroupWatches.isQuestion(request)
        ? LeaderReads.onReadThread(
            () -> GroupWatches.answer(keyspaces.recentChanges(), group, request))
        : GroupFailure.future(GroupFailure.Reason.REFUSED, "Only the leader reads rows.");
  }

  @Override
  public CompletableFuture<byte[]> decide(
      ReplicaGroup group, RequestId id, boolean mayBeRepeated, byte[] request) {
    return decisions.decide(group, id, mayBeRepeated, request);
  }

  @Override
  public NodeLoad load() {
    return keyspaces.leadership().load();
  }

  @Override
  public int compactionsPending(UUID group) {
    return keyspaces.show().stream()
        .filter(shown -> shown.target().group().equals(group))
        .mapToInt(shown -> keyspaces.leadership().compactionsPending(shown.keyspace()))
        .sum();
  }

  @Override
  public CompletableFuture<Void> join(UUID group, UUID move) {
    return keyspaces.join(group, move);
  }

  @Override
  public boolean isSuccessor(String newId, String oldId, String address) {
    var ring = StorageService.instance.getTokenMetadata();
    InetAddressAndPort now = ring.getEndpointForHostId(UUID.fromString(newId));
    return now != null
        && now.getHostAddress(false).equals(address)
        && ring.getEndpointForHostId(UUID.fromString(oldId)) == null;
  }
}
