// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.apache.cassandra.db.DecoratedKey;

/** The versions of one partition, oldest first. Thread-safe. */
final class PartitionVersions {
  final VersionStore store;
  final DecoratedKey key;
  private final ArrayDeque<Version> oldestFirst = new ArrayDeque<>(2);

  /** Set when the partition has left its store: nothing may be added any more. */
  private boolean retired;

  /** Never too small for a version that is here, so that readers may skip it without a lock. */
  private volatile long newestSupersededAt = Long.MIN_VALUE;

  PartitionVersions(VersionStore store, DecoratedKey key) {
    this.store = store;
    this.key = key;
  }

  /** Returns false if this partition has left its store, and another must be made. */
  synchronized boolean add(Version version) {
    if (retired) {
      return false;
    }
    oldestFirst.addLast(version);
    newestSupersededAt = Math.max(newestSupersededAt, version.supersededAt());
    return true;
  }

  /** All was superseded at a timestamp, or before. */
  synchronized void supersededBy(long timestamp) {
    oldestFirst.forEach(version -> version.supersededBy(timestamp));
    decided();
  }

  /** It is known now when a version was superseded. */
  synchronized void decided() {
    long newest = Long.MIN_VALUE;
    for (Version version : oldestFirst) {
      newest = Math.max(newest, version.supersededAt());
    }
    newestSupersededAt = newest;
  }

  /** Returns the bytes that are free now. */
  synchronized long remove(Version version) {
    if (oldestFirst.peekFirst() == version) {
      oldestFirst.pollFirst();
    } else {
      oldestFirst.remove(version);
    }
    retired = oldestFirst.isEmpty();
    return version.bytes();
  }

  /** Whether the last version is gone, so that the partition has to leave its store. */
  synchronized boolean isRetired() {
    return retired;
  }

  /** Returns how many bytes more the versions take. */
  synchronized long takeOver() {
    long grown = 0;
    for (Version version : oldestFirst) {
      grown += version.takeOver();
    }
    return grown;
  }

  boolean hasSupersededAfter(long asOf) {
    return newestSupersededAt > asOf;
  }

  synchronized List<Version> neededBy(long asOf) {
    List<Version> needed = new ArrayList<>(oldestFirst.size());
    for (Version version : oldestFirst) {
      if (version.isNeededBy(asOf)) {
        needed.add(version);
      }
    }
    return needed;
  }
}
