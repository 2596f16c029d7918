// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.raft.GroupFailure;
import io.isolde.raft.GroupFailure.Reason;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Who asks for a decision again believes the last answer. What waited somewhere must not make that
 * wrong, also if it comes when its node leads again.
 */
class RepeatedDecisionsTest {
  private static final String KEY = "k";
  private static final int REQUESTS = 25;

  @TempDir private Path folder;

  /** Writes if the key has a value, which others do not keep. */
  private static final class IfOpen extends TestDecision {
    private final MemoryStorage storage;
    private final String value;

    IfOpen(MemoryStorage storage, String value) {
      this.storage = storage;
      this.value = value;
    }

    @Override
    public ReplicaGroup.Outcome<String> decide() {
      return "open".equals(storage.get(KEY))
          ? new ReplicaGroup.Outcome<>("applied", MemoryStorage.payload(KEY, value), null)
          : new ReplicaGroup.Outcome<>("declined", null, null);
    }

    @Override
    public String repeated() {
      return "applied";
    }

    @Override
    public String declined() {
      return "declined";
    }

    @Override
    public byte[] nothing() {
      return MemoryStorage.payload("nothing", "");
    }
  }

  private static String attempt(GroupNodes nodes, RequestId id, boolean mayBeRepeated) {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(90);
    while (true) {
      int leader = nodes.leader();
      IfOpen decision = new IfOpen(nodes.storages.get(leader), "of " + id.number());
      try {
        return nodes.replica(leader).decide(id, mayBeRepeated, KEY.hashCode(), deadline, decision);
      } catch (GroupFailure failure) {
        assertThat(failure.reason()).isEqualTo(Reason.NOT_LEADER); // A change was under way.
      }
    }
  }

  /** In each case the first attempt comes late; others change the key and the leader meanwhile. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void whenAnAttemptComesLateThenTheAnswerToTheLastOneStaysTrue(long seed) throws Exception {
    Random random = new Random(seed);
    try (GroupNodes nodes = new GroupNodes(folder)) {
      List<String> answers = new ArrayList<>();
      for (int number = 1; number <= REQUESTS; number++) {
        RequestId id = new RequestId(9, number, number);
        nodes.write(0, KEY, random.nextBoolean() ? "open" : "closed");
        String answer = attempt(nodes, id, true);
        for (int late = 0; late < 2; late++) {
          if (random.nextInt(4) == 0) {
            nodes.lead(random.nextInt(GroupNodes.NODES));
          }
          nodes.write(0, KEY, random.nextBoolean() ? "open" : "closed");
          assertThat(attempt(nodes, id, late > 0)).as("seed %s", seed).isEqualTo(answer);
        }
        answers.add(answer);
      }
      assertThat(answers).as("seed %s", seed).contains("applied", "declined");
      List<String> applied = List.copyOf(nodes.storages.get(nodes.leader()).applied.values());
      for (int number = 1; number <= REQUESTS; number++) {
        assertThat(applied.stream().filter((KEY + "=of " + number)::equals).count())
            .as("seed %s, request %s", seed, number)
            .isEqualTo(answers.get(number - 1).equals("applied") ? 1 : 0);
      }
    }
  }

  @Test
  void whenNobodyHasAskedBeforeThenWhatWritesNothingIsNotInTheLog() throws Exception {
    try (GroupNodes nodes = new GroupNodes(folder)) {
      nodes.write(0, KEY, "closed");
      int before = nodes.storages.get(nodes.leader()).applied.size();
      assertThat(attempt(nodes, new RequestId(9, 1, 1), false)).isEqualTo("declined");
      assertThat(nodes.storages.get(nodes.leader()).applied).hasSize(before);
    }
  }

  @Test
  void whenAnAttemptHasNoAnswerThenTheNextOneSaysSo() throws Exception {
    try (GroupNodes nodes = new GroupNodes(folder)) {
      nodes.answers.add(new CompletableFuture<>());
      for (int through = 0; through < GroupNodes.NODES; through++) {
        nodes.increment(through, "n");
      }
      assertThat(nodes.attempts).containsExactly(false, true, false, false);
    }
  }
}
