// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LeaderFailureTest {
  @TempDir Path directory;

  @Test
  void whenTheLeaderDiesUnderLoadThenEveryCommitIsDecidedOnceAndTimeGoesForward() throws Exception {
    try (Members members = new Members(Members.quick(), directory, 3).startAll()) {
      CoordinatorSession one = members.session();
      CoordinatorSession two = members.session();
      Load load = new Load();
      load.start(one, 50);
      load.start(two, 50);
      load.await();
      load.start(one, 100);
      load.start(two, 100);
      Members.await("some are decided", () -> load.answered() > 110);

      members.kill(members.leader());

      load.start(one, 100);
      load.start(two, 100);
      load.await();
      load.check();
      assertThat(load.answered()).isEqualTo(500);
      assertThat(one.begin().get()).isGreaterThanOrEqualTo(load.newest());
    }
  }
}
