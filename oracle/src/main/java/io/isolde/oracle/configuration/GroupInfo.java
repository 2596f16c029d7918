// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.configuration;

import static java.util.Objects.requireNonNull;

import java.util.List;
import java.util.UUID;

/**
 * What the leader of a replica group says of it.
 *
 * @param id another one if the keyspace is dropped and made again
 * @param number counts the groups of the keyspace, from 0
 * @param members their host ids
 */
public record GroupInfo(
    UUID id,
    String keyspace,
    int number,
    String durability,
    List<Range> ranges,
    List<UUID> members) {
  private static final int MAX_RANGES = 20_000;
  private static final int MAX_MEMBERS = 64;
  private static final int FIXED_BYTES = 96;
  private static final int MEMBER_BYTES = 16;

  /** A token range: above start, up to and with end; around the ring if end is not above start. */
  public record Range(long start, long end) {
    /** On the wire. */
    public static final int BYTES = 16;
  }

  /** Checks the sizes: the log must not take what no replica has room for. */
  public GroupInfo {
    requireNonNull(id);
    NodeInfo.checkText(keyspace);
    NodeInfo.checkText(durability);
    ranges = List.copyOf(ranges);
    members = List.copyOf(members);
    if (number < 0 || ranges.size() > MAX_RANGES || members.size() > MAX_MEMBERS) {
      throw new IllegalArgumentException(
          "A replica group has a number, at most "
              + MAX_RANGES
              + " ranges and "
              + MAX_MEMBERS
              + " members.");
    }
  }

  /** What it counts against the bounds. */
  int bytes() {
    return FIXED_BYTES
        + 2 * (keyspace.length() + durability.length())
        + Range.BYTES * ranges.size()
        + MEMBER_BYTES * members.size();
  }
}
