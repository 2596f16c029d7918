// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.failover;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.BoundStatement;
import io.isolde.bench.kit.BenchOptions;
import io.isolde.bench.nodes.RowTable;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Clients that know the leader, over a session of their own, and of what their gaps consist. */
final class RoutedClients implements AutoCloseable {
  private final String prefix;
  private final CqlSession session;
  private final Clients clients;
  private Parts parts = new Parts();
  private long failedBefore;

  /**
   * Starts so many clients.
   *
   * @param prefix of the names of their metrics
   * @param session is closed with these
   * @param timeout of each request
   */
  RoutedClients(
      String prefix,
      CqlSession session,
      RowTable table,
      BenchOptions options,
      Duration timeout,
      int count,
      long pauseMillis) {
    this.prefix = prefix;
    this.session = session;
    RowTable overLeaders = table.over(session, options);
    this.clients =
        new Clients(
            () -> session.executeAsync(mayBeRepeated(overLeaders, timeout)), count, pauseMillis);
  }

  /** If the leader dies, the driver asks another node. */
  private static BoundStatement mayBeRepeated(RowTable table, Duration timeout) {
    return table.update(table.anyRow()).setTimeout(timeout).setIdempotent(true);
  }

  /** Events of another kind start. */
  void begin() {
    parts = new Parts();
    failedBefore = clients.failed();
  }

  /** An event starts. */
  void restart() {
    clients.successes().restart(System.nanoTime());
    clients.ofEach().forEach(clock -> clock.restart(System.nanoTime()));
  }

  /** Of each client. */
  List<GapClock> clocks() {
    return clients.ofEach();
  }

  /** An event is over. */
  void add(Turnover seen) {
    parts.add(seen, clients.successes(), clients.ofEach());
  }

  /** What the last event was like. */
  String last() {
    return prefix + ": " + parts.last();
  }

  Map<String, Double> metrics(String event) {
    Map<String, Double> metrics = new LinkedHashMap<>(parts.metrics(event, prefix));
    metrics.put(event + "_" + prefix + "_failed", (double) (clients.failed() - failedBefore));
    return metrics;
  }

  @Override
  public void close() {
    clients.close();
    session.close();
  }
}
