// SPDX-License-Identifier: Apache-2.0
package io.isolde.operations;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;

/** The last so many of something. Thread-safe. */
final class RecentItems<T> {
  private final int capacity;
  private final Deque<T> entries = new ArrayDeque<>();
  private long added;

  RecentItems(int capacity) {
    if (capacity < 1) {
      throw new IllegalArgumentException("A list holds at least one entry, not " + capacity + ".");
    }
    this.capacity = capacity;
  }

  /** An entry and how many came before it. */
  record Numbered<T>(long number, T entry) {}

  synchronized void add(T entry) {
    if (entries.size() == capacity) {
      entries.removeFirst();
    }
    entries.addLast(entry);
    added++;
  }

  /** All that it holds, the newest first. */
  synchronized List<Numbered<T>> newestFirst() {
    List<Numbered<T>> all = new ArrayList<>(entries.size());
    long number = added - entries.size();
    for (T entry : entries) {
      all.add(new Numbered<>(number++, entry));
    }
    Collections.reverse(all);
    return all;
  }
}
