// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.watching;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.Statement;
import java.util.ArrayList;
import java.util.List;

/**
 * An answer to SELECT CHANGES.
 *
 * @param changes timestamps of commits
 * @param position of the last row
 */
record Asked(List<Long> changes, long position, boolean isLost) {
  static Asked of(Iterable<Row> rows) {
    List<Long> changes = new ArrayList<>();
    Asked asked = null;
    for (Row row : rows) {
      String event = row.getString("event");
      if (asked != null) {
        throw new AssertionError("There is a row after the position: " + event);
      }
      if (event.equals("change")) {
        changes.add(row.getLong("timestamp"));
      } else {
        asked = new Asked(changes, row.getLong("timestamp"), event.equals("lost"));
      }
    }
    return asked;
  }

  static Asked of(CqlSession session, Statement<?> statement) {
    return of(session.execute(statement));
  }

  static Asked of(CqlSession session, String select, long after, int waitMillis) {
    return of(
        session.execute("%s AFTER %d WITHIN %d MILLISECONDS".formatted(select, after, waitMillis)));
  }

  /** The position of now. */
  static long now(CqlSession session, String table) {
    return of(session.execute(
            "SELECT CHANGES FROM %s AFTER NOW WITHIN 0 MILLISECONDS".formatted(table)))
        .position();
  }
}
