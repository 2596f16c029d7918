// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.smtp;

import java.net.InetAddress;
import java.util.HashMap;
import java.util.Map;

/**
 * How much memory the messages take that are being received, in all and of each address. Pure: it
 * counts and has none of it. For all threads.
 */
final class ReceivingMemory {
  private final long maxBytes;
  private final long maxBytesOfAddress;

  /** Only addresses with messages, so at most as many as there are connections. */
  private final Map<InetAddress, Long> ofAddresses = new HashMap<>();

  private long all;

  ReceivingMemory(long maxBytes, long maxBytesOfAddress) {
    this.maxBytes = maxBytes;
    this.maxBytesOfAddress = maxBytesOfAddress;
  }

  /** Counts some bytes, unless there is no room; who got true has to release them. */
  synchronized boolean tryReserve(InetAddress address, long bytes) {
    long ofAddress = ofAddresses.getOrDefault(address, 0L) + bytes;
    if (all + bytes > maxBytes || ofAddress > maxBytesOfAddress) {
      return false;
    }
    all += bytes;
    ofAddresses.put(address, ofAddress);
    return true;
  }

  /** Bytes that were reserved are free again. */
  synchronized void release(InetAddress address, long bytes) {
    all -= bytes;
    ofAddresses.computeIfPresent(
        address, (key, ofAddress) -> ofAddress == bytes ? null : ofAddress - bytes);
  }

  synchronized long reservedBytes() {
    return all;
  }
}
