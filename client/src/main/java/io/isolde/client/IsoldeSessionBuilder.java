// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

import com.datastax.oss.driver.api.core.CqlSessionBuilder;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.context.DriverContext;
import com.datastax.oss.driver.api.core.session.ProgrammaticArguments;
import io.isolde.client.routing.RoutedContext;

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
 * <p>In all else as {@link com.datastax.oss.driver.api.core.CqlSession#builder}.
 */
public final class IsoldeSessionBuilder extends CqlSessionBuilder {
  private boolean isRouting = true;

  /**
   * Requests go to any node, as the driver's own policy says.
   *
   * @return this builder
   */
  public IsoldeSessionBuilder withoutRouting() {
    isRouting = false;
    return this;
  }

  @Override
  protected DriverContext buildContext(
      DriverConfigLoader configLoader, ProgrammaticArguments programmaticArguments) {
    return new RoutedContext(configLoader, programmaticArguments, isRouting);
  }
}
