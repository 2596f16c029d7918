// SPDX-License-Identifier: Apache-2.0
package io.isolde.notification;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.stream.Stream;

/** Sessions that are all there at once. */
final class ListedSessions implements Balance.Sessions {
  private final List<Balance.Session> newestFirst;
  private final Map<Integer, Integer> watchers = new HashMap<>();
  private int looks;

  private ListedSessions(List<Balance.Session> newestFirst) {
    this.newestFirst = newestFirst;
    newestFirst.forEach(session -> watchers.put(session.number(), session.watchers()));
  }

  static ListedSessions of(List<Balance.Session> newestFirst) {
    return new ListedSessions(newestFirst);
  }

  int looks() {
    return looks;
  }

  @Override
  public int count() {
    return newestFirst.size();
  }

  @Override
  public int watchers() {
    return watchers.values().stream().mapToInt(each -> each).sum();
  }

  @Override
  public OptionalInt watchersOf(int number) {
    Integer found = watchers.get(number);
    return found == null ? OptionalInt.empty() : OptionalInt.of(found);
  }

  @Override
  public Stream<Balance.Session> newestFirst() {
    looks++;
    return newestFirst.stream();
  }
}
