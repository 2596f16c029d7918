// SPDX-License-Identifier: Apache-2.0
package io.isolde.torture;

import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.DriverTimeoutException;
import io.isolde.client.TransactionOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What strong torture finds: stores in memory that are right, or wrong once in a while. */
class PlantedViolationsTest {
  private static final int STEPS = 2_000;
  private static final int CLIENTS = 4;

  /** What goes wrong. */
  private enum Wrong {
    NOTHING,
    READS_WHAT_WAS_BEFORE,
    LOSES_A_WRITE,
    READS_A_PART,
    REFUSES_AND_WRITES,
    IGNORES_THE_CONDITION,
    EMPTIES_A_PART,
    PUTS_IN_FRONT
  }

  /** Goes wrong once in a while, and answers nothing as often, done or not. */
  private abstract static class Store {
    private final Wrong wrong;
    private final Random random = new Random(7);
    final Map<Integer, List<Integer>> written = new ConcurrentHashMap<>();

    Store(Wrong wrong) {
      this.wrong = wrong;
    }

    boolean goes(Wrong way) {
      return wrong == way && random.nextInt(way == Wrong.IGNORES_THE_CONDITION ? 2 : 30) == 0;
    }

    void loseAnswer() {
      if (random.nextInt(100) == 0) {
        throw new DriverTimeoutException("lost");
      }
    }

    /** All that was ever written; the last counts. */
    List<Integer> of(int key) {
      return written.computeIfAbsent(key, unused -> new ArrayList<>());
    }
  }

  private static final class Registers extends Store implements RegisterStore {
    Registers(Wrong wrong) {
      super(wrong);
    }

    private static Integer last(List<Integer> values, int back) {
      return values.size() < back ? null : values.get(values.size() - back);
    }

    @Override
    public synchronized void write(int key, int value) {
      loseAnswer();
      if (!goes(Wrong.LOSES_A_WRITE)) {
        of(key).add(value);
      }
      loseAnswer();
    }

    /** Late, so that others come in between what was expected and this. */
    @Override
    public boolean swap(int key, Integer expected, int value) {
      LockSupport.parkNanos(100_000);
      synchronized (this) {
        loseAnswer();
        if (goes(Wrong.IGNORES_THE_CONDITION) || Objects.equals(last(of(key), 1), expected)) {
          of(key).add(value);
          loseAnswer();
          return !goes(Wrong.REFUSES_AND_WRITES);
        }
        return false;
      }
    }

    @Override
    public synchronized void empty() {
      loseAnswer();
      for (List<Integer> values : written.values()) {
        if (!goes(Wrong.EMPTIES_A_PART)) {
          values.add(null);
        }
      }
      loseAnswer();
    }

    @Override
    public synchronized Integer read(int key) {
      int back = goes(Wrong.READS_WHAT_WAS_BEFORE) ? 2 : 1;
      Integer value = last(of(key), back);
      if (value == null) {
        return null;
      }
      return RegisterStore.together(goes(Wrong.READS_A_PART) ? List.of(value) : pair(value), 2);
    }

    private static List<Integer> pair(int value) {
      return List.of(value, value);
    }
  }

  private static final class Lists extends Store implements SingleLists {
    Lists(Wrong wrong) {
      super(wrong);
    }

    @Override
    public synchronized void append(int key, int value) {
      loseAnswer();
      if (!goes(Wrong.LOSES_A_WRITE)) {
        of(key).add(goes(Wrong.PUTS_IN_FRONT) ? 0 : of(key).size(), value);
      }
      loseAnswer();
    }

    @Override
    public synchronized boolean appendIfThere(int key, int value) {
      if (of(key).isEmpty()) {
        return false;
      }
      append(key, value);
      return !goes(Wrong.REFUSES_AND_WRITES);
    }

    @Override
    public synchronized List<Integer> read(int key) {
      List<Integer> all = List.copyOf(of(key));
      return goes(Wrong.READS_WHAT_WAS_BEFORE) && !all.isEmpty()
          ? all.subList(0, all.size() - 1)
          : all;
    }
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "PUTS_IN_FRONT")
  void whenRegistersGoWrongThenItIsFound(Wrong wrong) {
    assertFound(new SingleRegisterWorkload(new Registers(wrong), 0, 20), wrong);
  }

  @ParameterizedTest
  @EnumSource(
      mode = EnumSource.Mode.EXCLUDE,
      names = {"READS_A_PART", "IGNORES_THE_CONDITION", "EMPTIES_A_PART"})
  void whenListsGoWrongThenItIsFound(Wrong wrong) {
    assertFound(new SingleListWorkload(new Lists(wrong), 0), wrong);
  }

  private static void assertFound(CheckedWorkload workload, Wrong wrong) {
    Recorder recorder = new Recorder();
    TransactionOptions options = TransactionOptions.builder().build();
    List<CompletableFuture<Void>> clients = new ArrayList<>();
    for (int client = 0; client < CLIENTS; client++) {
      Random random = new Random(client);
      clients.add(
          CompletableFuture.runAsync(
              () ->
                  IntStream.range(0, STEPS / CLIENTS)
                      .forEach(step -> workload.step(null, options, random, recorder))));
    }
    clients.forEach(CompletableFuture::join);
    assertThat(workload.readAll(null, options, recorder)).isTrue();
    assertThat(workload.violations(recorder).isEmpty()).isEqualTo(wrong == Wrong.NOTHING);
  }
}
