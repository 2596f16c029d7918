// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica.simulation;

import io.isolde.oracle.replica.LogEntry;
import java.util.ArrayList;
import java.util.List;

/**
 * What Raft promises, without its messages: elections and replication happen at once, between the
 * members that are up and not isolated. So a leader's last entries may be lost or survive, an old
 * leader may go on believing that it leads, and whoever leads has all that is committed.
 */
final class RaftModel {

  /** An entry is only equal to itself. */
  static final class Entry {
    private final long term;
    private final LogEntry content;
    private final Proposal proposal;

    Entry(long term, LogEntry content, Proposal proposal) {
      this.term = term;
      this.content = content;
      this.proposal = proposal;
    }

    long term() {
      return term;
    }

    LogEntry content() {
      return content;
    }

    /** For the member that made it. */
    Proposal proposal() {
      return proposal;
    }
  }

  /** One member's. */
  static final class Node {
    final List<Entry> log = new ArrayList<>();
    long term;
    boolean leads;
    boolean isUp = true;
    boolean isIsolated;

    /** How many entries it knows to be committed. */
    int known;

    /** How many it may come to know of. */
    int knowable;

    boolean isReachable() {
      return isUp && !isIsolated;
    }
  }

  final List<Node> nodes = new ArrayList<>();
  private int committed;
  private long highestTerm;

  RaftModel(int members) {
    for (int i = 0; i < members; i++) {
      nodes.add(new Node());
    }
  }

  int committed() {
    return committed;
  }

  /** Makes a member the leader if a majority votes for it. */
  boolean elect(Node candidate) {
    List<Node> voters =
        nodes.stream().filter(node -> node.isReachable() && isNewer(candidate, node)).toList();
    if (!candidate.isReachable() || voters.size() <= nodes.size() / 2) {
      return false;
    }
    nodes.stream().filter(node -> node.leads && node.term == highestTerm).forEach(this::learn);
    highestTerm++;
    for (Node node : nodes) {
      if (node.isReachable()) {
        node.term = highestTerm;
        node.leads = node == candidate;
      }
    }
    return true;
  }

  private static boolean isNewer(Node candidate, Node voter) {
    long own = lastTerm(candidate);
    long other = lastTerm(voter);
    return own > other || (own == other && candidate.log.size() >= voter.log.size());
  }

  private static long lastTerm(Node node) {
    return node.log.isEmpty() ? 0 : node.log.get(node.log.size() - 1).term();
  }

  /** Whether a read index or lease of this member holds now. */
  boolean holdsLease(Node node) {
    return node.isUp && node.leads && node.term == highestTerm;
  }

  /** Copies the log of a leader to another member, up to {@code most} new entries. */
  void replicate(Node leader, Node follower, int most) {
    if (!leader.leads
        || leader == follower
        || !leader.isReachable()
        || !follower.isReachable()
        || follower.term > leader.term) {
      return;
    }
    follower.term = leader.term;
    follower.leads = false;
    int same = samePrefix(leader, follower);
    int target = Math.min(leader.log.size(), same + most);
    if (target > same) {
      follower.log.subList(same, follower.log.size()).clear();
      follower.log.addAll(leader.log.subList(same, target));
    }
    follower.knowable = Math.max(follower.knowable, Math.min(leader.known, target));
  }

  private int samePrefix(Node leader, Node follower) {
    int shorter = Math.min(leader.log.size(), follower.log.size());
    int same = Math.min(shorter, follower.known);
    while (same < shorter && leader.log.get(same) == follower.log.get(same)) {
      same++;
    }
    return same;
  }

  /** A leader commits what a majority has, if it is of its own term, and all before it. */
  void commit(Node leader) {
    if (!holdsLease(leader)) {
      return;
    }
    for (int size = leader.log.size(); size > committed; size--) {
      Entry last = leader.log.get(size - 1);
      if (last.term() != leader.term) {
        return;
      }
      if (isOnMajority(last, size)) {
        committed = size;
        learn(leader);
        return;
      }
    }
  }

  private boolean isOnMajority(Entry entry, int size) {
    long count =
        nodes.stream()
            .filter(node -> node.log.size() >= size && node.log.get(size - 1) == entry)
            .count();
    return count > nodes.size() / 2;
  }

  private void learn(Node leader) {
    leader.knowable = Math.max(leader.knowable, Math.min(committed, leader.log.size()));
  }
}
