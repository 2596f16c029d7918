// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.connection;

import io.netty.channel.ChannelPipeline;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.timeout.IdleStateHandler;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.apache.james.protocols.api.Protocol;
import org.apache.james.protocols.api.ProtocolSession;

/**
 * What all connections of a port share whose protocol consists of lines.
 *
 * @param protocol the commands, as James has them
 * @param workers execute the commands
 * @param tls for clients that ask for it
 * @param isLoggedIn whether the bounds before the login are over
 * @param maxCommands of a client that has not logged in
 * @param beforeLogin how long a client may stay without logging in
 * @param idle how long a client may be silent while nothing is sent to it
 * @param maxLineBytes of a line with its end
 * @param tooLate what a client hears whose time is over, without the line's end
 */
public record LineServer(
    Protocol protocol,
    Workers workers,
    Optional<ServerTls> tls,
    Predicate<ProtocolSession> isLoggedIn,
    int maxCommands,
    Duration beforeLogin,
    Duration idle,
    int maxLineBytes,
    String tooLate) {

  static final String TLS = "tls";
  private static final String LINES = "lines";

  /** Adds the handlers of a new connection. */
  public void add(SocketChannel channel) {
    ChannelPipeline pipeline = channel.pipeline();
    pipeline.addLast(LINES, new LineDecoder(maxLineBytes));
    // It sees lines, not bytes: who sends a byte now and then is idle.
    pipeline.addLast(new IdleStateHandler(true, 0, 0, idle.toMillis(), TimeUnit.MILLISECONDS));
    pipeline.addLast(new LineConnection(this));
  }

  /**
   * What has come in clear is not to be read as if it had come encrypted. Part of a line that has
   * come goes to the connection, which ends over it; a handler that is replaced would pass it on to
   * the new one.
   */
  void startLinesAnew(ChannelPipeline pipeline) {
    pipeline.remove(LINES);
    pipeline.addFirst(LINES, new LineDecoder(maxLineBytes));
  }
}
