// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.oracle.Decision;
import io.isolde.oracle.replica.Answer;
import io.isolde.raft.GroupFailure;
import io.isolde.raft.GroupFailure.Reason;
import io.isolde.raft.Peer;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MajorityLostTest {
  @TempDir Path directory;

  @Test
  void whenTheMajorityIsGoneThenRequestsTimeOutAndWorkAgainWhenItIsBack() throws Exception {
    OracleGroupConfig config = Members.quick().withLeaseMillis(60_000);
    try (Members members = new Members(config, directory, 3).startAll()) {
      OracleClient client = members.client(2_000);
      long session = FencingTest.open(client, UUID.randomUUID());
      long start = client.begin().get();
      List<Peer> followers = members.followers();
      followers.forEach(members::kill);
      UUID id = UUID.randomUUID();

      CompletableFuture<Answer> commit =
          client.execute(FencingTest.commit(session, 0, id, start, 1));

      assertThat(reason(commit)).isEqualTo(Reason.TIMED_OUT_UNKNOWN);
      assertThat(reason(client.begin())).isEqualTo(Reason.TIMED_OUT_UNKNOWN);
      members.awaitEnds();
      for (Peer follower : followers) {
        members.start(follower);
      }
      members.leader();
      OracleClient patient = members.client();
      assertThat(patient.begin().get()).isGreaterThanOrEqualTo(start);
      Answer answer = patient.execute(FencingTest.commit(session, 0, id, start, 1)).get();
      assertThat(((Answer.Decided) answer).decision()).isInstanceOf(Decision.Committed.class);
    }
  }

  private static Reason reason(CompletableFuture<?> future) throws Exception {
    try {
      future.get(20, TimeUnit.SECONDS);
      throw new AssertionError("It did not fail.");
    } catch (ExecutionException e) {
      return ((GroupFailure) e.getCause()).reason();
    }
  }
}
