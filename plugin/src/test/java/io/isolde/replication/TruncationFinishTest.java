// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.testing.CassandraInProcess;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import org.apache.cassandra.schema.TableId;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The coordinator of a TRUNCATE has died when the first group had done it. */
class TruncationFinishTest implements TruncationFinish.Groups {
  private final Queue<Runnable> due = new ArrayDeque<>();
  private final List<Payload.Truncation> asked = new ArrayList<>();
  private final TruncationFinish finish =
      new TruncationFinish(this, (millis, task) -> due.add(task));
  private boolean isLeader;
  private CompletableFuture<Void> answer = CompletableFuture.completedFuture(null);

  @BeforeAll
  static void start() {
    CassandraInProcess.start();
    CassandraInProcess.execute("CREATE TABLE test.finished (p int PRIMARY KEY)");
  }

  @Override
  public boolean isFirstLedHere() {
    return isLeader;
  }

  @Override
  public CompletableFuture<?> truncate(Payload.Truncation truncation) {
    asked.add(truncation);
    if (answer == null) {
      throw new IllegalStateException("The node starts.");
    }
    return answer;
  }

  private static Payload.Truncation truncation() {
    return new Payload.Truncation(CassandraInProcess.table("finished").metadata().id, 1_000);
  }

  @Test
  void whenThisNodeLeadsThenItAsksTheGroupsUntilAllHaveAnswered() {
    isLeader = true;
    answer = CompletableFuture.failedFuture(new IllegalStateException("no leader"));
    finish.later(truncation());
    due.remove().run();
    assertThat(asked).containsExactly(truncation());
    answer = CompletableFuture.completedFuture(null);
    due.remove().run();
    assertThat(asked).hasSize(2);
    assertThat(due).isEmpty();
  }

  @Test
  void whenTheLeaderDiesThenTheNextOneAsks() {
    finish.later(truncation());
    due.remove().run();
    assertThat(asked).isEmpty();
    isLeader = true;
    due.remove().run();
    assertThat(asked).hasSize(1);
    assertThat(due).isEmpty();
  }

  @Test
  void whenAnotherNodeLeadsThenThisOneGivesUpAfterAWhile() {
    finish.later(truncation());
    int looks = 0;
    while (!due.isEmpty()) {
      due.remove().run();
      looks++;
    }
    assertThat(looks).isBetween(5, 20);
    assertThat(asked).isEmpty();
  }

  @Test
  void whenTheTableIsDroppedThenNobodyIsAsked() {
    isLeader = true;
    finish.later(new Payload.Truncation(TableId.generate(), 1_000));
    assertThat(due).isEmpty();
  }

  @Test
  void whenAskingFailsAtOnceThenItIsTriedAgainAndNothingIsLeft() {
    isLeader = true;
    answer = null;
    finish.later(truncation());
    due.remove().run();
    answer = CompletableFuture.completedFuture(null);
    due.remove().run();
    assertThat(asked).hasSize(2);
    assertThat(finish.tables()).isZero();
  }

  @Test
  void whenATableIsTruncatedAgainThenOnlyTheLastTruncationIsFinished() {
    Payload.Truncation last =
        new Payload.Truncation(truncation().table(), truncation().upToMicros() + 2);
    finish.later(truncation());
    finish.later(last);
    assertThat(finish.tables()).isEqualTo(1);
    isLeader = true;
    while (!due.isEmpty()) {
      due.remove().run();
    }
    assertThat(asked).containsExactly(last);
    assertThat(finish.tables()).isZero();
  }
}
