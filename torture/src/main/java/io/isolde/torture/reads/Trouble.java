// SPDX-License-Identifier: Apache-2.0
package io.isolde.torture.reads;

import com.datastax.oss.driver.api.core.AllNodesFailedException;
import com.datastax.oss.driver.api.core.DriverTimeoutException;
import com.datastax.oss.driver.api.core.connection.ClosedConnectionException;
import com.datastax.oss.driver.api.core.servererrors.OverloadedException;
import com.datastax.oss.driver.api.core.servererrors.QueryConsistencyException;
import com.datastax.oss.driver.api.core.servererrors.ReadFailureException;
import com.datastax.oss.driver.api.core.servererrors.UnavailableException;
import io.isolde.client.IsoldeException;
import java.util.Set;

/** What says nothing of the rows: nodes that are busy, or not reached. */
final class Trouble {
  private static final Set<Class<?>> PASSING =
      Set.of(
          AllNodesFailedException.class,
          ClosedConnectionException.class,
          DriverTimeoutException.class,
          OverloadedException.class,
          UnavailableException.class);

  private Trouble() {}

  static boolean isPassing(RuntimeException e) {
    return e instanceof IsoldeException
        || PASSING.contains(e.getClass())
        || (e instanceof QueryConsistencyException && !(e instanceof ReadFailureException));
  }
}
