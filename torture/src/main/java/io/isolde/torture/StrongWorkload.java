// SPDX-License-Identifier: Apache-2.0
package io.isolde.torture;

import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.DriverException;
import com.datastax.oss.driver.api.core.NoNodeAvailableException;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.servererrors.InvalidQueryException;
import com.datastax.oss.driver.api.core.servererrors.OverloadedException;
import com.datastax.oss.driver.api.core.servererrors.UnavailableException;
import io.isolde.client.Isolde;
import io.isolde.client.TransactionOptions;
import io.isolde.history.Linearizability;
import io.isolde.history.ObservedTransaction.Outcome;
import io.isolde.history.RegisterOperation;
import io.isolde.history.RegisterOperation.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Single statements on a strong keyspace: each key must be a linearizable register. */
final class StrongWorkload implements Workload {
  private final CqlSession session;
  private final KeyRing keys;
  private final Map<Integer, Queue<RegisterOperation>> history = new ConcurrentHashMap<>();

  StrongWorkload(CqlSession session, int firstKey) {
    this.session = session;
    this.keys = new KeyRing(firstKey);
  }

  static List<String> definitions() {
    return List.of(
        "CREATE KEYSPACE strong WITH replication ="
            + " {'class': 'ReplicatedLogStrategy', 'replication_factor': 3, 'groups': 2}",
        "CREATE TABLE strong.registers (k int PRIMARY KEY, v int)");
  }

  @Override
  public List<String> tables() {
    return List.of();
  }

  @Override
  public void prepare(Isolde isolde) {}

  @Override
  public void step(Isolde isolde, TransactionOptions options, Random random, Recorder recorder) {
    int key = keys.draw(random);
    switch (random.nextInt(4)) {
      case 0 -> write(key, recorder);
      case 1 -> swap(key, recorder);
      default -> {
        boolean unused = read(key, recorder);
      }
    }
  }

  private interface Sent {
    RegisterOperation answered(ResultSet answer, long invokedNanos, long returnedNanos);
  }

  /** Returns whether there was an answer. */
  private boolean run(
      int key, SimpleStatement statement, Recorder recorder, RegisterOperation lost, Sent sent) {
    Queue<RegisterOperation> ofKey =
        history.computeIfAbsent(key, unused -> new ConcurrentLinkedQueue<>());
    long begin = System.nanoTime();
    try {
      ResultSet answer =
          session.execute(
              statement.setConsistencyLevel(ConsistencyLevel.QUORUM).setIdempotent(false));
      long end = System.nanoTime();
      ofKey.add(sent.answered(answer, begin, end));
      recorder.single(Outcome.COMMITTED, end, null);
      return true;
    } catch (UnavailableException
        | OverloadedException
        | InvalidQueryException
        | NoNodeAvailableException e) {
      recorder.single(Outcome.ABORTED, System.nanoTime(), e);
    } catch (DriverException e) {
      if (lost != null) {
        ofKey.add(at(lost, begin));
      }
      recorder.single(Outcome.UNKNOWN, System.nanoTime(), e);
    }
    return false;
  }

  private static RegisterOperation at(RegisterOperation lost, long invokedNanos) {
    return new RegisterOperation(
        lost.kind(),
        lost.expected(),
        lost.value(),
        lost.isApplied(),
        invokedNanos,
        RegisterOperation.NEVER);
  }

  private static RegisterOperation lost(Kind kind, Integer expected, int value) {
    return new RegisterOperation(kind, expected, value, true, 0, RegisterOperation.NEVER);
  }

  private void write(int key, Recorder recorder) {
    int value = keys.valueFor(key);
    boolean unused =
        run(
            key,
            SimpleStatement.newInstance(
                "INSERT INTO strong.registers (k, v) VALUES (?, ?)", key, value),
            recorder,
            lost(Kind.WRITE, null, value),
            (answer, from, to) -> new RegisterOperation(Kind.WRITE, null, value, true, from, to));
  }

  /** Expects what was there a moment ago. */
  private void swap(int key, Recorder recorder) {
    Integer expected;
    try {
      expected = value(session.execute(select(key).setConsistencyLevel(ConsistencyLevel.QUORUM)));
    } catch (DriverException e) {
      return; // As if it had never been tried.
    }
    int value = keys.valueFor(key);
    SimpleStatement statement =
        expected == null
            ? SimpleStatement.newInstance(
                "INSERT INTO strong.registers (k, v) VALUES (?, ?) IF NOT EXISTS", key, value)
            : SimpleStatement.newInstance(
                "UPDATE strong.registers SET v = ? WHERE k = ? IF v = ?", value, key, expected);
    boolean unused =
        run(
            key,
            statement,
            recorder,
            lost(Kind.SWAP, expected, value),
            (answer, from, to) ->
                new RegisterOperation(Kind.SWAP, expected, value, answer.wasApplied(), from, to));
  }

  private static SimpleStatement select(int key) {
    return SimpleStatement.newInstance("SELECT v FROM strong.registers WHERE k = ?", key);
  }

  private static Integer value(ResultSet answer) {
    Row row = answer.one();
    return row == null ? null : row.get(0, Integer.class);
  }

  private boolean read(int key, Recorder recorder) {
    return run(
        key,
        select(key),
        recorder,
        null,
        (answer, from, to) ->
            new RegisterOperation(Kind.READ, null, value(answer), true, from, to));
  }

  @Override
  public boolean readAll(Isolde isolde, TransactionOptions options, Recorder recorder) {
    return keys.used().stream().allMatch(key -> read(key, recorder));
  }

  @Override
  public List<String> violations(Recorder recorder) {
    List<String> violations = new ArrayList<>();
    history.forEach(
        (key, operations) -> {
          if (!Linearizability.check(List.copyOf(operations))) {
            violations.add("Key " + key + " is not linearizable: " + operations);
          }
        });
    return violations;
  }

  @Override
  public String toString() {
    return "registers in a strong keyspace";
  }
}
