// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.oracle.CommitRequest;
import io.isolde.oracle.Conflict;
import io.isolde.oracle.Decision;
import io.isolde.oracle.IsolationLevel;
import io.isolde.oracle.Outcome;
import java.nio.file.Path;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TransactionsTest {
  private static final long[] NONE = {};

  @TempDir Path directory;

  @Test
  void whenThreeMembersRunThenTransactionsBeginCommitAndConflict() throws Exception {
    try (Members members = new Members(patient(), directory, 3).startAll()) {
      CoordinatorSession session = members.session();
      UUID first = UUID.randomUUID();
      UUID second = UUID.randomUUID();
      long start1 = session.begin().get();
      long start2 = session.begin().get();

      Decision committed = session.commit(update(first, start1, 7)).get();
      Decision aborted = session.commit(update(second, start2, 7)).get();

      assertThat(committed).isInstanceOf(Decision.Committed.class);
      long commitTimestamp = ((Decision.Committed) committed).commitTimestamp();
      assertThat(commitTimestamp).isGreaterThan(start1);
      assertThat(((Decision.Aborted) aborted).conflict().kind())
          .isEqualTo(Conflict.Kind.READ_WRITE);
      assertThat(((Decision.Aborted) aborted).conflict().by()).isEqualTo(first);
      assertThat(session.begin().get()).isLessThan(commitTimestamp);
      session.applied(commitTimestamp).get();
      assertThat(session.begin().get()).isGreaterThanOrEqualTo(commitTimestamp);
      assertThat(members.client().outcome(first).get().orElseThrow().outcome())
          .isEqualTo(new Outcome.Committed(commitTimestamp));
    }
  }

  /** Nothing is in doubt meanwhile. */
  private static OracleGroupConfig patient() {
    return OracleGroupConfig.defaults().withOverdueMillis(600_000);
  }

  static CommitRequest update(UUID id, long start, long row) {
    return new CommitRequest(
        id, IsolationLevel.SERIALIZABLE, start, new long[] {row}, NONE, new long[] {row});
  }
}
