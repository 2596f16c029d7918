// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.group.ReplicaStatus.Role;
import org.junit.jupiter.api.Test;

class ReplicaStatusTest {
  private static ReplicaStatus status(Role role, CompactionPermit.State permit) {
    return new ReplicaStatus(role, 1_000, 1_000, 0, 0, 0, permit);
  }

  @Test
  void whenAMemberFollowsCloselyAndCompactsNothingHeavyThenItCanLead() {
    ReplicaStatus follower = status(Role.FOLLOWER, CompactionPermit.State.IDLE);
    assertThat(follower.canLead(0)).isTrue();
    assertThat(follower.canLead(HandOverPolicy.MAX_ENTRIES_BEHIND)).isTrue();
    assertThat(follower.canLead(HandOverPolicy.MAX_ENTRIES_BEHIND + 1)).isFalse();
    assertThat(status(Role.FOLLOWER, CompactionPermit.State.WORKING).canLead(0)).isFalse();
    assertThat(status(Role.FOLLOWER, CompactionPermit.State.WAITING).canLead(0)).isFalse();
    assertThat(status(Role.COPYING, CompactionPermit.State.IDLE).canLead(0)).isFalse();
    assertThat(status(Role.NO_LEADER, CompactionPermit.State.IDLE).canLead(0)).isFalse();
  }

  @Test
  void whenAMemberLeadsThenItCanWhateverItDoes() {
    assertThat(status(Role.LEADER, CompactionPermit.State.WORKING).canLead(1_000)).isTrue();
  }
}
