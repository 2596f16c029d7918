// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

import com.datastax.oss.driver.api.core.CqlSessionBuilder;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.context.DriverContext;
import com.datastax.oss.driver.api.core.session.ProgrammaticArguments;
import io.isolde.client.routing.RoutedContext;
import java.time.Duration;

/**
 * Builds sessions for clusters with strong keyspaces.
 *
 * <p>The driver does not know their replication strategy. Where it meets one it does not know, it
 * gives up its map of who has which data: for all keyspaces, so that no request goes to a replica
 * of its row any more but by chance. To these sessions every node has all of a strong keyspace,
 * since every node serves it.
 *
 * <p>Requests for one partition of a strong keyspace go to the node that leads it. The other nodes
 * of the driver's own plan come after it. Sessions learn leaders from answers: a node that had to
 * pass a request on says who leads. So the first request after a change of leaders takes the
 * detour, and the next one does not. A SELECT at ONE or LOCAL_ONE goes to any node, as any replica
 * answers it.
 *
 * <p>A request that may be repeated (the driver's {@code setIdempotent}) and has no answer after
 * {@value #HEDGE_AFTER_MILLIS} ms goes to a second node, too. So a leader that hangs or is cut off
 * costs no time-out, but only the time until there is a new one. At most one request in twenty does
 * so for long: a cluster that is slow for other reasons does not get twice the work.
 *
 * <p>In all else as {@link com.datastax.oss.driver.api.core.CqlSession#builder}.
 */
public final class IsoldeSessionBuilder extends CqlSessionBuilder {
  private static final int HEDGE_AFTER_MILLIS = 200;
  private static final Duration MIN_HEDGE_AFTER = Duration.ofMillis(1);
  private static final Duration MAX_HEDGE_AFTER = Duration.ofMinutes(1);

  private boolean isRouting = true;
  private Duration hedgeAfter = Duration.ofMillis(HEDGE_AFTER_MILLIS);

  /**
   * Requests go to any node, as the driver's own policy says.
   *
   * @return this builder
   */
  public IsoldeSessionBuilder withoutRouting() {
    isRouting = false;
    return this;
  }

  /**
   * How long a request that may be repeated waits for its leader, before a second node is asked,
   * too. Take a time that is longer than nearly all requests need.
   *
   * @param after from 1 ms to a minute; zero: no second node is ever asked
   * @return this builder
   * @throws IllegalArgumentException if it is out of these bounds
   */
  public IsoldeSessionBuilder withHedgingAfter(Duration after) {
    if (!after.isZero()
        && (after.compareTo(MIN_HEDGE_AFTER) < 0 || after.compareTo(MAX_HEDGE_AFTER) > 0)) {
      throw new IllegalArgumentException("Not between 1 ms and a minute: " + after);
    }
    hedgeAfter = after;
    return this;
  }

  @Override
  protected DriverContext buildContext(
      DriverConfigLoader configLoader, ProgrammaticArguments programmaticArguments) {
    return new RoutedContext(configLoader, programmaticArguments, isRouting, hedgeAfter);
  }
}
