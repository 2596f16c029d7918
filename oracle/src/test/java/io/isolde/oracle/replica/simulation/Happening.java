// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica.simulation;

import java.util.EnumMap;
import java.util.Map;

/** What a simulation is there for, to be counted: each must happen. */
enum Happening {
  COMMITS,
  COMMITS_IN_PARTS,
  CONFLICTS,
  CONDITIONS_NOT_HELD,
  DECISIONS_AGAIN,
  FORGOTTEN_ABORTS,
  REQUESTED_ABORTS,
  REFUSALS,
  UNKNOWN_OUTCOMES,
  STUCK_ROWS,
  COMMITS_IN_DOUBT,
  APPLIED_AFTER_ALL,
  SETS_ASKED_FOR,
  READS_IN_DOUBT,
  REFUSALS_IN_DOUBT,
  APPLIES_IN_DOUBT,
  STARTS_THAT_FOLLOW_THE_CLOCK,
  LEADER_CHANGES,
  LOST_ENTRIES,
  ENTRIES_OF_THE_LEADER_BEFORE,
  STARTS_WITHOUT_LEASE,
  STARTS_BEFORE_CAUGHT_UP,
  APPLIED_REPORTED_AGAIN,
  SEEN_BEFORE_LOGGED,
  REPORTED_AT_THE_LEADER,
  APPLIED_BY_THE_LEADER,
  STARTS_AFTER_THE_NEXT_LEADER,
  RECONFIGURATIONS,
  FENCES,
  ORPHANS_APPLIED,
  ZOMBIES_REFUSED,
  ANSWERS_FROM_RECENT_DECISIONS,
  MEMBER_CRASHES,
  RESTARTS_FROM_SAVED_STATE,
  STATES_OF_OTHERS,
  CLOCK_JUMPS,
  COORDINATOR_CRASHES,
  COORDINATOR_PAUSES,
  COORDINATORS_CUT_OFF,
  COMMITS_GOT_BACK,
  COMMITS_IN_PARTS_GOT_BACK,
  LOGS_THAT_DO_NOT_REACH_BACK,
  LOST_MESSAGES,
  DUPLICATED_MESSAGES;

  /** How often. */
  static final class Counts {
    private final Map<Happening, Long> counts = new EnumMap<>(Happening.class);

    Counts() {
      for (Happening happening : Happening.values()) {
        counts.put(happening, 0L);
      }
    }

    void add(Happening happening) {
      counts.merge(happening, 1L, Long::sum);
    }

    void addAll(Counts others) {
      others.counts.forEach((happening, count) -> counts.merge(happening, count, Long::sum));
    }

    Map<Happening, Long> all() {
      return counts;
    }
  }
}
