// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.configuration;

import static java.util.Objects.requireNonNull;

import java.util.UUID;

/**
 * What a node says of itself.
 *
 * @param host its host id, which goes with its data
 * @param address by which the cluster knows it
 * @param cqlAddress where clients reach it, with the port
 */
public record NodeInfo(
    UUID host, String address, String cqlAddress, String datacenter, String rack) {
  /** In characters. */
  static final int MAX_TEXT = 255;

  private static final int FIXED_BYTES = 64;

  /** Checks the lengths: the log must not take what no replica has room for. */
  public NodeInfo {
    requireNonNull(host);
    checkText(address);
    checkText(cqlAddress);
    checkText(datacenter);
    checkText(rack);
  }

  static void checkText(String text) {
    if (text.length() > MAX_TEXT) {
      throw new IllegalArgumentException(
          "A name in the configuration has "
              + text.length()
              + " characters; "
              + MAX_TEXT
              + " are allowed.");
    }
  }

  /** What it counts against the bounds. */
  int bytes() {
    return FIXED_BYTES
        + 2 * (address.length() + cqlAddress.length() + datacenter.length() + rack.length());
  }
}
