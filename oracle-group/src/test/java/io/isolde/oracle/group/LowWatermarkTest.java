// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.raft.Peer;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LowWatermarkTest {
  private static final long RETENTION_MICROS = 400_000;

  @TempDir Path directory;

  @Test
  void whenATransactionIsOpenThenItHoldsTheLowWatermarkAlsoOfTheNextLeader() throws Exception {
    OracleGroupConfig config = Members.quick().withLeaseMillis(1_000);
    try (Members members = new Members(config, directory, 3).startAll()) {
      CoordinatorSession holder = members.session();
      CoordinatorSession other = members.session();
      long start = holder.begin().get();
      goOn(other, start);
      assertThat(other.lowWatermark()).isLessThanOrEqualTo(start);

      Peer next = members.followers().get(0);
      members.client().change(new MemberChange(MemberChange.Kind.LEAD, next)).get();
      Members.await("the next one serves", () -> members.node(next).isServing());
      goOn(other, start + 1_000_000);
      assertThat(other.lowWatermark()).isLessThanOrEqualTo(start);
      assertThat(holder.lowWatermark()).isLessThanOrEqualTo(start);

      holder.ended(start);
      Members.await("it moves on", () -> begun(other) > 0 && other.lowWatermark() > start);
    }
  }

  @Test
  void whenThePastIsRetainedThenTheLowWatermarkStaysBehind() throws Exception {
    OracleGroupConfig config = Members.quick().withLeaseMillis(1_000);
    config = config.withBounds(config.bounds().withRetentionMicros(RETENTION_MICROS));
    try (Members members = new Members(config, directory, 1).startAll()) {
      CoordinatorSession session = members.session();
      long start = begun(session);

      Members.await("it moves on", () -> begun(session) > 0 && session.lowWatermark() > start);

      long low = session.lowWatermark(); // First: it moves on by itself.
      assertThat(begun(session) - low).isGreaterThanOrEqualTo(RETENTION_MICROS);
    }
  }

  /** Begins and ends a transaction. */
  private static long begun(CoordinatorSession session) {
    long start = session.begin().join();
    session.ended(start);
    return start;
  }

  private static void goOn(CoordinatorSession session, long past) {
    Members.await("time goes on", () -> begun(session) > past + 500_000);
  }
}
