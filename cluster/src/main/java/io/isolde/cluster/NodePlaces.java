// SPDX-License-Identifier: Apache-2.0
package io.isolde.cluster;

import io.isolde.cluster.ClusterException.Reason;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** The places of the nodes of a cluster: their tokens on the ring and their addresses. */
final class NodePlaces {

  /** The tokens of Murmur3Partitioner are the 64-bit numbers. */
  private static final BigInteger TOKENS = BigInteger.ONE.shiftLeft(64);

  private NodePlaces() {}

  /**
   * Returns the tokens of each node, the first node's first. All nodes own the same share of the
   * ring. With several tokens for each, neighbours on the ring differ from place to place, as they
   * do where Cassandra draws tokens; the same arguments give the same ring.
   */
  static List<List<Long>> tokens(int nodes, int tokensPerNode) {
    List<List<Long>> tokens =
        Stream.generate(() -> (List<Long>) new ArrayList<Long>()).limit(nodes).toList();
    List<Integer> order = new ArrayList<>(IntStream.range(0, nodes).boxed().toList());
    Random random = new Random(tokensPerNode);
    for (int i = 0; i < tokensPerNode; i++) {
      for (int j = 0; j < nodes; j++) {
        tokens.get(order.get(j)).add(token(i * nodes + j, nodes * tokensPerNode));
      }
      Collections.shuffle(order, random);
    }
    return tokens;
  }

  private static long token(int index, int of) {
    BigInteger offset = TOKENS.multiply(BigInteger.valueOf(index)).divide(BigInteger.valueOf(of));
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
