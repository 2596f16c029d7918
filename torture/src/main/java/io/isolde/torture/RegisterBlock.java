// SPDX-License-Identifier: Apache-2.0
package io.isolde.torture;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import io.isolde.history.ObservedTransaction.Outcome;
import io.isolde.history.Operation;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;

/**
 * A transaction in one request: reads some registers, returns what it has read, and replaces some
 * of them if the first one is even or not there.
 *
 * @param writes new values by key
 */
record RegisterBlock(List<Integer> keys, Map<Integer, Integer> writes) {
  private static final String TABLE = "torture.registers";

  static RegisterBlock of(Set<Integer> keys, boolean isReading, KeyRing ring, Random random) {
    Map<Integer, Integer> writes = new TreeMap<>();
    for (int key : keys) {
      if (!isReading && random.nextBoolean()) {
        writes.put(key, ring.valueFor(key));
      }
    }
    return new RegisterBlock(List.copyOf(keys), writes);
  }

  void run(CqlSession session, Recorder recorder) {
    SimpleStatement block = SimpleStatement.newInstance(text()).setIdempotent(false);
    StatementAttempt<ResultSet> attempt =
        StatementAttempt.of(() -> session.execute(block), recorder);
    List<Operation> done = new ArrayList<>();
    if (attempt.isAnswered()) {
      Row row = attempt.answer().one();
      for (int i = 0; i < keys.size(); i++) {
        done.add(new Operation.Read(keys.get(i), row.get(i, Integer.class)));
      }
    }
    if (attempt.outcome() != Outcome.ABORTED
        && (!attempt.isAnswered() || isApplied(attempt.answer()))) {
      writes.forEach((key, value) -> done.add(new Operation.Write(key, value)));
    }
    recorder.operations(done, attempt.outcome(), attempt.beginNanos(), attempt.endNanos());
  }

  private boolean isApplied(ResultSet answer) {
    return !writes.isEmpty()
        && StandardCharsets.UTF_8
            .decode(
                answer.getExecutionInfo().getIncomingPayload().get("isolde-applied").duplicate())
            .toString()
            .equals("true");
  }

  private String text() {
    StringBuilder text = new StringBuilder("BEGIN TRANSACTION ");
    List<String> columns = new ArrayList<>();
    for (int key : keys) {
      text.append("LET r%1$d = (SELECT v FROM %2$s WHERE k = %1$d); ".formatted(key, TABLE));
      columns.add("r%d.v".formatted(key));
    }
    text.append("SELECT ").append(String.join(", ", columns)).append("; ");
    if (!writes.isEmpty()) {
      text.append("IF r%1$d IS NULL OR r%1$d.v %% 2 = 0 THEN ".formatted(keys.get(0)));
      writes.forEach(
          (key, value) ->
              text.append("UPDATE %s SET v = %d WHERE k = %d; ".formatted(TABLE, value, key)));
      text.append("END IF ");
    }
    return text.append("COMMIT TRANSACTION").toString();
  }
}
