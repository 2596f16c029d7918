// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.AsyncResultSet;
import com.datastax.oss.driver.api.core.cql.BoundStatement;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.Row;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletionStage;

/** The requests of a watch. */
interface WatchRequests {
  /**
   * What a node has reported.
   *
   * @param commits timestamps of commits, in their order
   * @param position all up to here is reported
   */
  record Notification(List<Long> commits, long position, boolean isLost) {}

  /** Asks for what has changed after a timestamp; from now on if there is none. */
  CompletionStage<Notification> ask(OptionalLong after);

  /** The watch has ended. */
  default void close() {}

  /** A watch through a session of the driver. */
  record OfSession(CqlSession session, String select, List<?> values) implements WatchRequests {
    private static final int WAIT_MILLIS = 5_000;

    /** A node that does not answer by then is perhaps gone. */
    private static final Duration TIMEOUT = Duration.ofMillis(2 * WAIT_MILLIS);

    private static final String TAIL = " AFTER ? WITHIN ? MILLISECONDS";

    @Override
    public CompletionStage<Notification> ask(OptionalLong after) {
      return session
          .prepareAsync(select + TAIL) // The driver keeps it.
          .thenCompose(prepared -> session.executeAsync(bind(prepared, after)))
          .thenApply(OfSession::notification);
    }

    private BoundStatement bind(PreparedStatement prepared, OptionalLong after) {
      List<Object> all = new ArrayList<>(values);
      all.add(after.isPresent() ? after.getAsLong() : null);
      all.add(WAIT_MILLIS);
      return prepared.bind(all.toArray()).setTimeout(TIMEOUT).setIdempotent(true);
    }

    private static Notification notification(AsyncResultSet result) {
      List<Long> commits = new ArrayList<>();
      for (Row row : result.currentPage()) {
        String event = row.getString("event");
        long timestamp = row.getLong("timestamp");
        if (!"change".equals(event)) {
          return new Notification(commits, timestamp, "lost".equals(event));
        }
        commits.add(timestamp);
      }
      throw new IllegalStateException(
          "SELECT CHANGES was answered without a position by %s: is the plugin active on that node?"
              .formatted(result.getExecutionInfo().getCoordinator()));
    }
  }
}
