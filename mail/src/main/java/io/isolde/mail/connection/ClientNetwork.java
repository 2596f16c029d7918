// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.connection;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;

/** Whom a client is counted as. */
public final class ClientNetwork {

  /** A host of IPv6 has as many addresses as it likes, and a site has one network of this size. */
  private static final int NETWORK_BYTES = 8;

  private ClientNetwork() {}

  /** The address itself for IPv4; the first address of the /64 for IPv6. */
  public static InetAddress of(InetAddress client) {
    if (!(client instanceof Inet6Address)) {
      return client;
    }
    byte[] bytes = client.getAddress();
    Arrays.fill(bytes, NETWORK_BYTES, bytes.length, (byte) 0);
    try {
      return InetAddress.getByAddress(bytes);
    } catch (UnknownHostException e) {
      throw new IllegalStateException("An address has the length of an address", e);
    }
  }
}
