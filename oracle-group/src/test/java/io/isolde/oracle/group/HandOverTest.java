// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.raft.Peer;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HandOverTest {
  @TempDir Path directory;

  @Test
  void whenLeadershipIsHandedOverUnderLoadThenNobodyFails() throws Exception {
    try (Members members = new Members(Members.quick(), directory, 3).startAll()) {
      CoordinatorSession session = members.session();
      OracleClient client = members.client();
      Load load = new Load();
      for (int i = 0; i < 2; i++) {
        Peer next = members.followers().get(0);
        load.start(session, 100);

        client.change(new MemberChange(MemberChange.Kind.LEAD, next)).get();

        load.start(session, 100);
        Members.await("the next one serves", () -> members.node(next).isServing());
        assertThat(members.leader()).isEqualTo(next);
      }
      load.await();
      load.check();
      assertThat(load.answered()).isEqualTo(400);
    }
  }

  @Test
  void whenTheLeaderIsStoppedThenAnotherServesAndNobodyFails() throws Exception {
    try (Members members = new Members(Members.quick(), directory, 3).startAll()) {
      CoordinatorSession session = members.session();
      Load load = new Load();
      load.start(session, 100);

      members.stop(members.leader());

      load.start(session, 100);
      load.await();
      load.check();
    }
  }
}
