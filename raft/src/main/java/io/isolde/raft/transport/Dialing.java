// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.transport;

import io.netty.channel.EventLoopGroup;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;

/**
 * How connections are opened.
 *
 * @param from our own address; null leaves it to the operating system. Members are known by their
 *     addresses, and a host may have many
 * @param otherBuilds with which we do not talk
 */
record Dialing(
    EventLoopGroup group,
    InetAddress from,
    TransportSettings settings,
    TransportSecurity security,
    OtherBuilds otherBuilds) {

  /** Any port of our own address; null if that is left to the operating system. */
  SocketAddress localAddress() {
    return from == null ? null : new InetSocketAddress(from, 0);
  }
}
