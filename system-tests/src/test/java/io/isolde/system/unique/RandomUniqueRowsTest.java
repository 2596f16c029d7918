// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.unique;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.client.ErrorCode;
import io.isolde.client.IsolationLevel;
import io.isolde.client.IsoldeException;
import io.isolde.client.Transaction;
import io.isolde.client.TransactionOptions;
import io.isolde.system.SystemNode;
import io.isolde.torture.unique.Members;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Many clients write few unique values, in every way. Rows and entries agree in each snapshot. */
class RandomUniqueRowsTest {
  private static final SystemNode NODE = SystemNode.shared();
  private static final int CLIENTS = 6;
  private static final int STEPS = 250;

  private static final Set<ErrorCode> EXPECTED =
      Set.of(ErrorCode.UNIQUE_VIOLATION, ErrorCode.CONFLICT);

  private static final TransactionOptions READ_ONLY =
      TransactionOptions.builder().readOnly(true).build();

  private final long seed = Long.getLong("isolde.seed", System.nanoTime());
  private final Members members = new Members(SystemNode.KEYSPACE, 0);

  @Test
  void whenManyWriteTheSameValuesThenEachHasOneRow() {
    members.tables().forEach(NODE.session()::execute);
    Random random = new Random(seed);
    List<CompletableFuture<Integer>> clients = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      Random ofClient = new Random(random.nextLong());
      clients.add(CompletableFuture.supplyAsync(() -> run(ofClient)));
    }
    int written = clients.stream().mapToInt(CompletableFuture::join).sum();
    assertThat(written).as("seed %d", seed).isGreaterThan(CLIENTS * STEPS / 10);
    assertThat(violations()).as("seed %d", seed).isEmpty();
  }

  private List<String> violations() {
    try (Transaction reader = NODE.isolde().begin(READ_ONLY)) {
      List<String> violations = members.violations(reader::execute);
      reader.commit();
      return violations;
    }
  }

  /** Returns how many writes succeeded. */
  private int run(Random random) {
    int written = 0;
    for (int i = 0; i < STEPS; i++) {
      if (random.nextInt(20) == 0) {
        assertThat(violations()).as("seed %d", seed).isEmpty();
      }
      try {
        write(random);
        written++;
      } catch (RuntimeException e) {
        ErrorCode code = IsoldeException.find(e).orElseThrow(() -> e).code();
        assertThat(EXPECTED).as("seed %d: %s", seed, e).contains(code);
      }
    }
    return written;
  }

  private void write(Random random) {
    if (random.nextBoolean()) {
      NODE.session().execute(members.change(random));
      return;
    }
    IsolationLevel level =
        random.nextBoolean() ? IsolationLevel.SNAPSHOT : IsolationLevel.SERIALIZABLE;
    TransactionOptions options = TransactionOptions.builder().isolationLevel(level).build();
    try (Transaction transaction = NODE.isolde().begin(options)) {
      for (int i = 0; i <= random.nextInt(3); i++) {
        transaction.execute(members.change(random));
      }
      transaction.commit();
    }
  }
}
