// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.testing.CassandraInProcess;
import org.apache.cassandra.schema.Schema;
import org.apache.cassandra.schema.TableMetadata;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class TimestampLeadTest {
  private static final long MAX_LEAD_MICROS = 60_000_000;
  private static final long NOW_MICROS = 1_800_000_000_000_000L;

  private static TableMetadata table;

  /** None: no oracle is asked where timestamps are only looked at. */
  private final TimestampLead lead = new TimestampLead(null, MAX_LEAD_MICROS);

  @BeforeAll
  static void start() {
    CassandraInProcess.start();
    CassandraInProcess.execute("CREATE TABLE test.ahead (id int PRIMARY KEY)");
    table = Schema.instance.getTableMetadata(CassandraInProcess.KEYSPACE, "ahead");
  }

  @Test
  void whenTimestampsAreNearThenTheyArePassed() {
    assertThatCode(() -> lead.requireNear(table, NOW_MICROS + MAX_LEAD_MICROS, NOW_MICROS))
        .doesNotThrowAnyException();
  }

  /** A log that is driven there stays there, for all tables of its keyspace. */
  @Test
  void whenTimestampsAreFarAheadThenNothingIsDrivenThere() {
    assertThatThrownBy(() -> lead.requireNear(table, NOW_MICROS + MAX_LEAD_MICROS + 1, NOW_MICROS))
        .isInstanceOfSatisfying(
            IsoldeException.class,
            refusal -> assertThat(refusal.errorCode()).isEqualTo(ErrorCode.UNSUPPORTED_TABLE));
  }
}
