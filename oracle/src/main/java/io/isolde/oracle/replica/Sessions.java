// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;

/**
 * The coordinators that may decide. Bounded by the nodes of the cluster: a coordinator has one
 * session, and a fenced one leaves nothing behind.
 */
final class Sessions {

  /** One coordinator's. */
  static final class Session {
    private final long number;
    private final UUID coordinator;
    private final long generation;
    private final RecentDecisions recent;

    private Session(long number, UUID coordinator, long generation, RecentDecisions recent) {
      this.number = number;
      this.coordinator = coordinator;
      this.generation = generation;
      this.recent = recent;
    }

    long number() {
      return number;
    }

    UUID coordinator() {
      return coordinator;
    }

    long generation() {
      return generation;
    }

    RecentDecisions recent() {
      return recent;
    }
  }

  /** In order of their numbers, so that replicas agree on the order, too. */
  private final TreeMap<Long, Session> open = new TreeMap<>();

  private long last;

  Sessions() {}

  /** Restores what was saved: open sessions are added one by one. */
  Sessions(long last) {
    this.last = last;
  }

  Session open(UUID coordinator, long generation) {
    last++;
    return add(last, coordinator, generation, new RecentDecisions());
  }

  Session add(long number, UUID coordinator, long generation, RecentDecisions recent) {
    assert number <= last;
    Session session = new Session(number, coordinator, generation, recent);
    open.put(number, session);
    return session;
  }

  void close(long number) {
    open.remove(number);
  }

  /** Null if it is not open. */
  Session get(long number) {
    return open.get(number);
  }

  Optional<Session> of(UUID coordinator) {
    return open.values().stream().filter(s -> s.coordinator.equals(coordinator)).findFirst();
  }

  Collection<Session> all() {
    return Collections.unmodifiableCollection(open.values());
  }

  List<Long> numbers() {
    return new ArrayList<>(open.keySet());
  }

  long last() {
    return last;
  }
}
