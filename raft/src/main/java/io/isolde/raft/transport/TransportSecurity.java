// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.transport;

import io.netty.handler.ssl.SslContext;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * How connections are encrypted and who proves what. The suppliers are asked for every connection,
 * so that certificates can change while the node runs.
 *
 * @param server for accepted connections; none: plain text
 * @param client for our own connections; none: plain text
 */
public record TransportSecurity(
    Supplier<Optional<SslContext>> server, Supplier<Optional<SslContext>> client) {

  /** Plain text. */
  public static TransportSecurity none() {
    return new TransportSecurity(Optional::empty, Optional::empty);
  }
}
