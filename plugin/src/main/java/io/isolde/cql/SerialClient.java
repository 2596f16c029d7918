// SPDX-License-Identifier: Apache-2.0
package io.isolde.cql;

import java.util.Map;
import java.util.Optional;

/**
 * Clients that are known to send one request after another, each on the same connection: only they
 * may have transactions that are bound to a connection. All others, such as the sessions of
 * drivers, have threads that share a connection, or several connections, and name the transaction
 * in each request.
 *
 * <p>Pure: who it is follows from what a connection says of itself when it is made, and from how it
 * begins.
 */
final class SerialClient {
  /** The application name of a client that promises it. */
  static final String APPLICATION_NAME = "isolde-serial";

  private static final String NAME_OPTION = "APPLICATION_NAME";
  private static final String CLIENT_OPTION = "CLIENT_ID";
  private static final String DRIVER_OPTION = "DRIVER_NAME";

  /**
   * With this cqlsh greets each node, to learn its version, since Cassandra 2; in these letters
   * nobody else asks for it.
   */
  private static final String GREETING_OF_CQLSH = "select * from system.local where key = 'local'";

  private SerialClient() {}

  /**
   * The client that promises to be serial: the same after it has lost its connection.
   *
   * @param options what the connection's STARTUP said
   */
  static Optional<String> promised(Map<String, String> options) {
    return APPLICATION_NAME.equals(options.get(NAME_OPTION))
        ? Optional.ofNullable(options.get(CLIENT_OPTION))
        : Optional.empty();
  }

  /** Whether a connection may be cqlsh's; the driver below it says no more. */
  static boolean mayBeCqlsh(Map<String, String> options) {
    return options.getOrDefault(DRIVER_OPTION, "").endsWith("Python Driver");
  }

  /** Whether such a connection is cqlsh's, going by a statement. */
  static boolean isGreetingOfCqlsh(String cql) {
    return cql.length() == GREETING_OF_CQLSH.length() && cql.equals(GREETING_OF_CQLSH);
  }
}
