// SPDX-License-Identifier: Apache-2.0
package io.isolde.cluster;

import io.isolde.cluster.ClusterException.Reason;
import java.math.BigInteger;

/** The places of the nodes of a cluster: their tokens on the ring and their addresses. */
final class Ring {

  /** The tokens of Murmur3Partitioner are the 64-bit numbers. */
  private static final BigInteger TOKENS = BigInteger.ONE.shiftLeft(64);

  private Ring() {}

  /**
   * Returns the token of a node (the first has index 0) when all own the same share of the ring.
   */
  static long token(int index, int nodes) {
    BigInteger offset =
        TOKENS.multiply(BigInteger.valueOf(index)).divide(BigInteger.valueOf(nodes));
    return BigInteger.valueOf(Long.MIN_VALUE).add(offset).longValueExact();
  }

  /** Returns the address of a node (the first has index 0), counted up in the last byte. */
  static String address(String first, int index) {
    int lastDot = first.lastIndexOf('.');
    int lastByte = Integer.parseInt(first.substring(lastDot + 1)) + index;
    if (lastByte > 254) {
      throw new ClusterException(
          Reason.ILLEGAL_SETTING,
          "There are not enough addresses after %s: node %d would have %d as its last byte."
              .formatted(first, index + 1, lastByte));
    }
    return first.substring(0, lastDot + 1) + lastByte;
  }
}
