// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.isolation;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.client.ErrorCode;
import io.isolde.client.IsolationLevel;
import io.isolde.client.IsoldeException;
import io.isolde.client.Transaction;
import io.isolde.client.TransactionOptions;
import io.isolde.system.Refusals;
import io.isolde.system.Results;
import io.isolde.system.SystemNode;
import java.util.List;

/** Transactions side by side on one transactional table of the shared node. */
abstract class Scenario {

  final SystemNode node = SystemNode.shared();

  Transaction snapshot() {
    return begin(IsolationLevel.SNAPSHOT);
  }

  Transaction serializable() {
    return begin(IsolationLevel.SERIALIZABLE);
  }

  Transaction begin(IsolationLevel level) {
    return node.isolde().begin(TransactionOptions.builder().isolationLevel(level).build());
  }

  Transaction reader() {
    return node.isolde().begin(TransactionOptions.reading());
  }

  /** Executes outside of any transaction. */
  void execute(String cql) {
    node.session().execute(cql);
  }

  /** Reads outside of any transaction. */
  List<String> read(String cql) {
    return Results.lines(node.session().execute(cql));
  }

  static List<String> read(Transaction transaction, String cql) {
    return Results.lines(transaction.execute(cql));
  }

  static void assertCommits(Transaction transaction) {
    assertThat(transaction.commit().committed()).isTrue();
  }

  static IsoldeException assertConflicts(Transaction transaction) {
    return Refusals.assertRefused(ErrorCode.CONFLICT, transaction::commit);
  }
}
