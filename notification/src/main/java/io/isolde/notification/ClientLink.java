// SPDX-License-Identifier: Apache-2.0
package io.isolde.notification;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;

/** One connection of a {@link ClientSession}, and what its node was asked for. */
final class ClientLink {
  /** A watch of the session. */
  static final class Watched {
    final int number;

    /** All up to here was handed out; -1 if there is none. It never goes back. */
    long position;

    boolean isPaused;

    /** How often in a row a node has refused it for now. */
    int failures;

    Watched(int number, OptionalLong after) {
      this.number = number;
      this.position = after.orElse(-1);
    }
  }

  /** What a node was asked for. */
  static final class Subscription {
    final Watched watched;

    /** Up to where this node has reported all. */
    long position;

    Subscription(Watched watched) {
      this.watched = watched;
      this.position = watched.position;
    }
  }

  final int number;
  boolean isOpen;

  /** By the id in messages. */
  final Map<Integer, Subscription> subscribed = new HashMap<>();

  /** Those of which nothing was heard yet. */
  final Set<Watched> unanswered = new HashSet<>();

  /** Those that wait for the position that the link before will tell. */
  final Set<Watched> withoutPosition = new HashSet<>();

  /** Those that its node has refused for now; they are subscribed again after a pause. */
  final Set<Watched> refused = new HashSet<>();

  ClientLink(int number) {
    this.number = number;
  }

  /** Whether its node has answered for all. */
  boolean isReady() {
    return isOpen && unanswered.isEmpty() && withoutPosition.isEmpty();
  }

  /** Forgets a watch, and returns the ids under which its node knows it. */
  List<Integer> forget(Watched watched) {
    withoutPosition.remove(watched);
    unanswered.remove(watched);
    refused.remove(watched);
    List<Integer> ids =
        subscribed.entrySet().stream()
            .filter(each -> each.getValue().watched == watched)
            .map(Map.Entry::getKey)
            .toList();
    ids.forEach(subscribed::remove);
    return ids;
  }
}
