// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.isolde.raft.GroupFailure;
import io.isolde.raft.GroupFailure.Reason;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AnswerLostTest {
  private static final long LEASE_MILLIS = 60_000;

  @TempDir Path directory;

  @Test
  void whenACommitGetsNoAnswerThenItIsLeftToOthersThoughItsCoordinatorLives() throws Exception {
    // The lease is so long that only the coordinator itself can have ended its session.
    OracleGroupConfig config = Members.quick().withLeaseMillis(LEASE_MILLIS);
    try (Members members = new Members(config, directory, 1).startAll();
        DeafLine line = new DeafLine(members.leader().address());
        OracleClient client =
            new OracleClient(
                OracleClientConfig.defaults().withTimeoutMillis(2_000),
                (address, onClosed) -> members.connect(line.address(), onClosed),
                List.of(members.leader().address()));
        CoordinatorSession session =
            new CoordinatorSession(client, UUID.randomUUID(), LEASE_MILLIS)) {
      Members.await("a session is open", session::isOpen);
      long start = session.begin().get();
      UUID id = UUID.randomUUID();

      line.loseAnswers();
      CompletableFuture<Decided> commit =
          session.commit(TransactionsTest.update(id, start, 1), new byte[] {7}, false);

      assertThatThrownBy(commit::get)
          .cause()
          .isInstanceOfSatisfying(
              GroupFailure.class, e -> assertThat(e.reason()).isEqualTo(Reason.TIMED_OUT_UNKNOWN));
      line.deliverAnswers();
      Members.await(
          "others are asked to finish it",
          () ->
              members.node(members.leader()).unfinished().stream()
                  .anyMatch(orphan -> id.equals(orphan.commit().transactionId())));
    }
  }
}
