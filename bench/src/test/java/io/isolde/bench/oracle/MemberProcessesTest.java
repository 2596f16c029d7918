// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.oracle;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.bench.kit.Measurement;
import io.isolde.bench.kit.Processes;
import io.isolde.bench.nodes.ChildProcess;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class MemberProcessesTest {

  @Test
  void whenAMemberRunsAsAProcessThenTransactionsCommitAndItAnswersQuestions() {
    try (MemberProcesses members = new MemberProcesses(1, false);
        Coordinators coordinators = new Coordinators(members.peers(), 2, 1, 20_000).awaitOpen()) {
      Measurement seen = new CommitLoad(coordinators).run(8, Duration.ofSeconds(1));

      assertThat(seen.operations()).isPositive();
      assertThat(members.leader()).isEqualTo(members.peers().get(0));
      assertThat(members.term()).isPositive();
      Processes processes = ChildProcess.together(members.processes());
      assertThat(processes.processorNanos().getAsLong()).isPositive();
      assertThat(processes.compilerMillis().getAsLong()).isNotNegative();
    }
  }

  @Test
  void whenMembersAreClosedThenTheirProcessesAreGone() {
    MemberProcesses members = new MemberProcesses(1, false);
    assertThat(members.processes().get(0).isAlive()).isTrue();
    members.close();
    assertThat(members.processes().get(0).isAlive()).isFalse();
  }
}
