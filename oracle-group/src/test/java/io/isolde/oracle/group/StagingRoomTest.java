// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.oracle.replica.Command;
import io.isolde.raft.GroupFailure.Reason;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class StagingRoomTest {
  private final StagingRoom room = new StagingRoom(400);

  private static Command.Stage part(int staging, int number, int totalBytes) {
    return new Command.Stage(7, new UUID(1, staging), number, totalBytes, new byte[1]);
  }

  @Test
  void whenOneIsLargerThanAllRoomThenItIsRefusedForGood() {
    assertThat(room.enter(part(1, 0, 301), false, 0)).contains(Reason.REFUSED);
    assertThat(room.enter(part(1, 0, 300), false, 0)).isEmpty();
  }

  @Test
  void whenThereIsNoRoomThenTheOthersWaitAndASmallPartIsLeftToSmallCommits() {
    assertThat(room.enter(part(1, 0, 100), false, 201)).contains(Reason.OVERLOADED);
    assertThat(room.enter(part(1, 0, 100), false, 200)).isEmpty();
  }

  @Test
  void whenSeveralComeBeforeTheReplicaKnowsOfOneThenTheyDoNotGetTheSameRoom() {
    assertThat(room.enter(part(1, 0, 200), false, 0)).isEmpty();
    assertThat(room.enter(part(2, 0, 200), false, 0)).contains(Reason.OVERLOADED);
    assertThat(room.enter(part(2, 0, 100), false, 0)).isEmpty();
    room.ended(part(1, 0, 200));
    assertThat(room.enter(part(3, 0, 200), false, 0)).isEmpty();
  }

  /** It would wait for the room that it has itself. */
  @Test
  void whenAFirstPartIsRepeatedOrAnotherFollowsThenItIsLetIn() {
    assertThat(room.enter(part(1, 0, 300), false, 0)).isEmpty();
    assertThat(room.enter(part(1, 0, 300), false, 0)).isEmpty();
    room.ended(part(1, 0, 300));
    assertThat(room.enter(part(1, 0, 300), true, 300)).isEmpty();
    assertThat(room.enter(part(1, 1, 300), true, 300)).isEmpty();
  }
}
