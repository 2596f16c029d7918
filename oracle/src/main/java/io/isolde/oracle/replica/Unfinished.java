// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica;

import io.isolde.oracle.InDoubtCommits;
import io.isolde.oracle.PendingCommit;
import io.isolde.oracle.StatusOracle;
import java.util.ArrayList;
import java.util.List;

/** Finds the commits that others than their coordinators may finish. */
record Unfinished(StatusOracle oracle, Sessions sessions, WriteSets writeSets) {

  /** Those whose coordinators' sessions are over. */
  List<PendingCommit> orphans() {
    return oracle.pendingCommits().stream().filter(this::isOrphan).toList();
  }

  /** The orphans, and what is in doubt, in the order of the timestamps. */
  List<UnfinishedCommit> all() {
    InDoubtCommits inDoubt = oracle.inDoubt();
    List<UnfinishedCommit> all = new ArrayList<>();
    for (PendingCommit commit : oracle.pendingCommits()) {
      boolean isOrphan = isOrphan(commit);
      if (isOrphan || inDoubt.contains(commit.commitTimestamp())) {
        all.add(withWrites(commit, isOrphan));
      }
    }
    return all;
  }

  private boolean isOrphan(PendingCommit commit) {
    return sessions.get(commit.session()) == null;
  }

  private UnfinishedCommit withWrites(PendingCommit commit, boolean isOrphan) {
    WriteSets.WriteSet writes = writeSets.get(commit.commitTimestamp());
    return writes == null
        ? new UnfinishedCommit(commit, isOrphan, 0, List.of())
        : new UnfinishedCommit(commit, isOrphan, writes.applyAfter(), writes.parts());
  }
}
