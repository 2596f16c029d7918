// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import io.isolde.raft.GroupFailure;
import io.isolde.raft.GroupFailure.Reason;
import io.isolde.raft.Peer;
import io.isolde.raft.transport.NodeConnections;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * What one member is asked, once, whether it leads or not. Each fails with a {@link GroupFailure},
 * also if the member belongs to a build that does not know the request.
 */
final class MemberQuestions {
  private MemberQuestions() {}

  /** Has it read; see {@link Requests#readMember}. */
  static CompletableFuture<byte[]> read(
      NodeConnections connections, UUID group, Peer member, byte[] request) {
    CompletableFuture<byte[]> answer =
        GroupMessages.ask(
            connections,
            member,
            GroupMessages.request(GroupMessages.READ_MEMBER, group, request.length)
                .writeBytes(request));
    return answer
        .orTimeout(BoundedAnswer.DOUBTFUL_MILLIS, TimeUnit.MILLISECONDS)
        .exceptionallyCompose(failure -> CompletableFuture.failedFuture(GroupFailure.of(failure)));
  }

  /** Lets it lead although leaders are wanted elsewhere, for ten minutes. */
  static CompletableFuture<byte[]> stay(
      NodeConnections connections, UUID group, Peer member, long waitMillis) {
    CompletableFuture<byte[]> answer =
        GroupMessages.ask(connections, member, GroupMessages.request(GroupMessages.STAY, group, 0));
    return answer
        .orTimeout(waitMillis, TimeUnit.MILLISECONDS)
        .exceptionallyCompose(
            failure ->
                failure instanceof TimeoutException
                    ? GroupFailure.future(
                        Reason.UNKNOWN, member.address().getHostString() + " does not answer.")
                    : CompletableFuture.failedFuture(failure));
  }
}
