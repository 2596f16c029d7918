// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Leaders with clocks that go wrong, clients that send again what was applied long ago, replicas
 * that replay the log from any place: timestamps grow with the log, every write is applied once,
 * and all replicas agree.
 */
class LogSimulationTest {
  private static final int ENTRIES = 3_000;

  static LongStream seeds() {
    String seed = System.getProperty("isolde.seed");
    return seed != null ? LongStream.of(Long.parseLong(seed)) : LongStream.range(0, 40);
  }

  /**
   * An entry.
   *
   * @param ownMicros the timestamp that the write came with; 0 for most
   */
  private record Logged(RequestId id, long proposedMicros, long ownMicros) {
    LogState.Decision appliedTo(LogState state) {
      LogState.Decision decision = state.next(id, proposedMicros);
      if (!decision.isRepetition()) {
        state.pass(Math.max(decision.timestampMicros(), ownMicros));
      }
      return decision;
    }
  }

  /** A coordinator: numbers its writes, sends some twice or late, and gives some up. */
  private static final class Coordinator {
    private final RequestNumbers numbers;
    private final List<RequestId> open = new ArrayList<>();
    private final List<RequestId> done = new ArrayList<>();

    Coordinator(long session) {
      numbers = new RequestNumbers(session);
    }

    RequestId send(Random random) {
      int choice = random.nextInt(10);
      if (choice < 2 && !open.isEmpty()) {
        return open.get(random.nextInt(open.size()));
      }
      if (choice < 3 && !done.isEmpty()) {
        return done.get(random.nextInt(done.size())); // Was under way in an old connection.
      }
      RequestId id = numbers.next();
      open.add(id);
      return id;
    }

    void answer(Random random) {
      if (!open.isEmpty() && random.nextInt(10) < 8) {
        RequestId id = open.remove(random.nextInt(open.size()));
        numbers.done(id);
        done.add(id);
      }
    }
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void whenAnythingIsRepeatedOrReplayedThenTimestampsAreThoseOfTheLog(long seed)
      throws IOException {
    Random random = new Random(seed);
    List<Coordinator> coordinators =
        List.of(new Coordinator(1), new Coordinator(2), new Coordinator(3));
    List<Logged> log = new ArrayList<>();
    long clock = 1_000_000_000;
    for (int i = 0; i < ENTRIES; i++) {
      Coordinator coordinator = coordinators.get(random.nextInt(3));
      // Another leader: its clock may be 15 s behind or ahead.
      clock +=
          random.nextInt(50) == 0 ? random.nextInt(30_000_000) - 15_000_000 : random.nextInt(9);
      long own = random.nextInt(20) == 0 ? clock + random.nextInt(200_000) - 100_000 : 0;
      log.add(new Logged(coordinator.send(random), clock, own));
      coordinator.answer(random);
    }

    LogState first = new LogState();
    Map<String, Long> timestamps = new HashMap<>();
    List<LogState.Decision> decisions = new ArrayList<>();
    long last = 0;
    byte[] saved = null;
    int savedAt = random.nextInt(ENTRIES);
    for (int i = 0; i < ENTRIES; i++) {
      if (i == savedAt) {
        saved = first.save(new byte[] {7});
      }
      RequestId id = log.get(i).id();
      LogState.Decision decision = log.get(i).appliedTo(first);
      decisions.add(decision);
      String name = id.session() + "/" + id.number();
      if (decision.isRepetition()) {
        assertThat(timestamps).as("seed %s: never applied before", seed).containsKey(name);
      } else {
        assertThat(timestamps.put(name, decision.timestampMicros())).as("seed %s", seed).isNull();
        assertThat(decision.timestampMicros()).as("seed %s", seed).isGreaterThan(last).isEven();
        last = Math.max(decision.timestampMicros(), log.get(i).ownMicros());
      }
    }
    LogState replayed = new LogState();
    assertThat(replayed.restore(saved)).containsExactly(7);
    for (int i = savedAt; i < ENTRIES; i++) {
      assertThat(log.get(i).appliedTo(replayed))
          .as("seed %s, entry %s", seed, i)
          .isEqualTo(decisions.get(i));
    }
  }
}
