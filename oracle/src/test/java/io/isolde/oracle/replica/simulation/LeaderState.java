// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica.simulation;

import io.isolde.oracle.replica.CoordinatorLeases;
import io.isolde.oracle.replica.Leadership;
import io.isolde.oracle.replica.OverdueCommits;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;

/** What a member knows because it leads, or believes to. */
final class LeaderState {
  /** Waits until stable reaches a timestamp. */
  record Waiter(long timestamp, Consumer<Response> reply) {}

  final long term;
  final Leadership leadership;
  final CoordinatorLeases leases;
  final OverdueCommits overdue;
  final long sinceMillis;
  final Deque<Proposal.Item> queue = new ArrayDeque<>();
  final List<Waiter> waiters = new ArrayList<>();

  /** Whether the first entry was applied, though that of another leader may be since. */
  boolean hasServed;

  LeaderState(
      long term,
      Leadership leadership,
      CoordinatorLeases leases,
      OverdueCommits overdue,
      long sinceMillis) {
    this.term = term;
    this.leadership = leadership;
    this.leases = leases;
    this.overdue = overdue;
    this.sinceMillis = sinceMillis;
  }
}
