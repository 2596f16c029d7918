// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.failover;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.AsyncResultSet;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.metadata.Node;
import java.util.List;
import java.util.OptionalDouble;

/**
 * One change of the leader, as the other nodes see it: when one of them has noticed that the leader
 * is gone, and when one of them leads. Each is asked again and again, so times are exact to about
 * ten milliseconds.
 */
final class Turnover implements AutoCloseable {
  private static final long LOOK_MILLIS = 5;

  private final CqlSession session;
  private final String group;
  private final String leader;
  private final List<GapClock> clocks;
  private final long beginNanos = System.nanoTime();

  /** Guarded by this, as is the next; 0 until then. */
  private long noticedNanos;

  private long electedNanos;
  private volatile boolean isOver;

  /**
   * Looks from now on.
   *
   * @param group asks a node for the {@code state} and the {@code leader} of its replica
   * @param leader the address of who leads
   * @param others the other nodes
   * @param clocks are marked when a new one leads
   */
  Turnover(
      CqlSession session, String group, String leader, List<Node> others, List<GapClock> clocks) {
    this.session = session;
    this.group = group;
    this.leader = leader;
    this.clocks = clocks;
    others.forEach(this::look);
  }

  private void look(Node node) {
    if (!isOver) {
      var unused =
          session
              .executeAsync(SimpleStatement.newInstance(group).setNode(node))
              .whenComplete(
                  (answer, error) -> {
                    if (error == null) {
                      saw(answer);
                    }
                    Clients.later(LOOK_MILLIS, () -> look(node));
                  });
    }
  }

  private synchronized void saw(AsyncResultSet answer) {
    Row row = answer.one();
    boolean isElected = row != null && "LEADER".equals(row.getString("state"));
    if (row != null && noticedNanos == 0 && !leader.equals(row.getString("leader"))) {
      noticedNanos = System.nanoTime();
    }
    if (isElected && electedNanos == 0) {
      electedNanos = System.nanoTime();
      clocks.forEach(clock -> clock.mark(electedNanos));
      isOver = true;
    }
  }

  /** From the beginning until one has noticed; empty if none had to. */
  synchronized OptionalDouble noticedMillis() {
    return noticedNanos == 0
        ? OptionalDouble.empty()
        : OptionalDouble.of((noticedNanos - beginNanos) / 1e6);
  }

  /** From the beginning until one leads; empty if none does. */
  synchronized OptionalDouble electedMillis() {
    return electedNanos == 0
        ? OptionalDouble.empty()
        : OptionalDouble.of((electedNanos - beginNanos) / 1e6);
  }

  @Override
  public void close() {
    isOver = true;
  }
}
