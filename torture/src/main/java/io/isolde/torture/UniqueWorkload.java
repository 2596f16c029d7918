// SPDX-License-Identifier: Apache-2.0
package io.isolde.torture;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import io.isolde.client.Isolde;
import io.isolde.client.TransactionOptions;
import io.isolde.torture.unique.Members;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/**
 * Members with unique addresses: written by transactions and by single statements, while others
 * compare rows and entries.
 */
final class UniqueWorkload implements CheckedWorkload {
  private static final int MAX_STATEMENTS = 3;

  private final Members members;
  private final CqlSession session;
  private final List<String> violations = Collections.synchronizedList(new ArrayList<>());

  /**
   * @param session null if only the tables are made
   */
  UniqueWorkload(int firstTeam, CqlSession session) {
    this.members = new Members("torture", firstTeam);
    this.session = session;
  }

  @Override
  public List<String> tables() {
    return members.tables();
  }

  @Override
  public void step(Isolde isolde, TransactionOptions options, Random random, Recorder recorder) {
    switch (random.nextInt(5)) {
      case 0 -> {
        var unused = readAll(isolde, options, recorder);
      }
      case 1, 2 -> {
        String change = members.change(random);
        var unused =
            StatementAttempt.of(
                () -> session.execute(SimpleStatement.newInstance(change).setIdempotent(false)),
                recorder);
      }
      default -> {
        var unused =
            recorder.run(
                isolde,
                options,
                (tx, done) -> {
                  for (int i = 0; i <= random.nextInt(MAX_STATEMENTS); i++) {
                    tx.execute(members.change(random));
                  }
                });
      }
    }
  }

  @Override
  public boolean readAll(Isolde isolde, TransactionOptions options, Recorder recorder) {
    return recorder.run(
        isolde,
        options.toBuilder().readOnly(true).build(),
        (tx, done) -> violations.addAll(members.violations(tx::execute)));
  }

  @Override
  public List<String> violations(Recorder recorder) {
    return List.copyOf(violations);
  }

  @Override
  public String toString() {
    return "members with unique addresses";
  }
}
