// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.strong;

import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.cql.Row;
import io.isolde.system.Await;
import java.util.Base64;
import java.util.List;
import java.util.Random;

/** Compactions of strong keyspaces above {@code leadership_threshold}, which is one megabyte. */
final class HeavyCompactions {
  private static final int MAX_ROWS = 3_000;
  private static final List<Integer> NUMBERS = List.of(1, 2, 3);

  private final StrongCluster nodes;

  private HeavyCompactions(StrongCluster nodes) {
    this.nodes = nodes;
  }

  /** Flushed by and by, since the log holds one megabyte; what is random is not compressed away. */
  static void check(StrongCluster nodes) {
    HeavyCompactions compactions = new HeavyCompactions(nodes);
    Random random = new Random(7);
    int written = 0;
    while (!compactions.haveHappened() && written < MAX_ROWS) {
      for (int i = 0; i < 20; i++) {
        byte[] bytes = new byte[15_000];
        random.nextBytes(bytes);
        nodes.on(
            1 + written % 3,
            "INSERT INTO s.t (p, c, v) VALUES (?, 0, ?)",
            10_000 + written,
            Base64.getEncoder().encodeToString(bytes));
        written++;
      }
    }
    assertThat(NUMBERS).as("nodes that led and handed over").anyMatch(compactions::hasHandedOver);
    assertThat(NUMBERS).as("nodes that had their turn").allMatch(compactions::hasCompacted);
    for (int i = 0; i < written; i++) {
      assertThat(nodes.execute("SELECT v FROM s.t WHERE p = ?", 10_000 + i).one()).isNotNull();
    }
    Await.until(
        "nobody waits for a turn", () -> NUMBERS.stream().noneMatch(compactions::hasWorkBefore));
  }

  private boolean haveHappened() {
    return NUMBERS.stream().anyMatch(this::hasHandedOver)
        && NUMBERS.stream().allMatch(this::hasCompacted);
  }

  private boolean hasHandedOver(int node) {
    for (Row event : nodes.on(node, "SELECT * FROM isolde.leadership_events")) {
      if (event.getString("decision").equals("HAND_OVER") && !event.getBoolean("failed")) {
        return true;
      }
    }
    return false;
  }

  private boolean hasCompacted(int node) {
    for (Row compaction : nodes.on(node, "SELECT * FROM system.compaction_history")) {
      if (compaction.getString("keyspace_name").equals("s")
          && compaction.getLong("bytes_in") >= 1 << 20) {
        return true;
      }
    }
    return false;
  }

  private boolean hasWorkBefore(int node) {
    return !nodes.group(node, "s").getString("compaction_permit").equals("IDLE");
  }
}
