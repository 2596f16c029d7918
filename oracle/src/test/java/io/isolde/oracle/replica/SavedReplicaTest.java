// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica;

import static io.isolde.oracle.replica.ReplicaFixture.CONFIG;
import static io.isolde.oracle.replica.ReplicaFixture.blind;
import static io.isolde.oracle.replica.ReplicaFixture.load;
import static io.isolde.oracle.replica.ReplicaFixture.save;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class SavedReplicaTest {

  @Property(tries = 30)
  void whenAReplicaIsRestoredThenItIsEqualAndGoesOnEqually(@ForAll long seed) throws IOException {
    Random random = new Random(seed);
    ReplicaFixture fixture = new ReplicaFixture();
    fixture.lead(CONFIG.withMaxRows(20).withMaxOutcomes(5).withMaxPendingCommits(5), 20_000);
    applyRandom(fixture, random, 40);
    byte[] saved = save(fixture.replica);
    OracleReplica restored = load(saved);
    assertThat(save(restored)).isEqualTo(saved);
    for (int i = 0; i < 20; i++) {
      LogEntry entry = randomEntry(fixture, random);
      assertThat(restored.apply(entry)).isEqualTo(fixture.replica.apply(entry));
      fixture.leadership.entryApplied(entry);
    }
    assertThat(save(restored)).isEqualTo(save(fixture.replica));
    assertThat(restored.leaders()).isEqualTo(2);
  }

  @Test
  void whenNothingWasAppliedThenItIsRestored() throws IOException {
    byte[] saved = save(new OracleReplica());
    assertThat(save(load(saved))).isEqualTo(saved);
  }

  @Test
  void whenItIsRestoredThenDecisionsAreNotMadeAgainAndOldCopiesAreRejected() throws IOException {
    ReplicaFixture fixture = new ReplicaFixture();
    Answer decided = fixture.apply(blind(fixture.session, 0, 1));
    int far = RecentDecisions.WINDOW - 1;
    fixture.apply(blind(fixture.session, far, 1));
    fixture.apply(blind(fixture.session, far + 5, 1));
    OracleReplica restored = load(save(fixture.replica));
    LogEntry again =
        fixture.leadership.entry(
            List.of(blind(fixture.session, 0, 1), blind(fixture.session, far, 1)), 1);
    assertThat(restored.apply(again)).isEqualTo(fixture.replica.apply(again));
    assertThat(fixture.apply(blind(fixture.session, far, 1))).isNotEqualTo(decided);
  }

  @Test
  void whenTheFormatIsUnknownThenThatIsSaid() throws IOException {
    byte[] saved = save(new OracleReplica());
    saved[3] = 99;
    assertThatThrownBy(() -> load(saved))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("99");
  }

  @Test
  void whenABuildBeforeTheConfigurationHasSavedItThenItIsReadAndNothingIsConfigured()
      throws IOException {
    try (var in = getClass().getResourceAsStream("/saved-replica-format-2.bin")) {
      OracleReplica restored = load(in.readAllBytes());
      assertThat(restored.configuration().version()).isZero();
      assertThat(restored.openSessions()).hasSize(2);
      assertThat(restored.staged().bytes()).isEqualTo(2000);
      assertThat(save(load(save(restored)))).isEqualTo(save(restored));
    }
  }

  @Property(tries = 50)
  void whenItIsCutShortThenThatIsNoticed(@ForAll int cut) throws IOException {
    byte[] whole = save(new ReplicaFixture().replica);
    byte[] part = Arrays.copyOf(whole, Math.floorMod(cut, whole.length));
    assertThatThrownBy(() -> load(part)).isInstanceOf(IOException.class);
  }

  @Test
  void whenALengthIsDamagedThenNoMemoryIsTakenForIt() throws IOException {
    byte[] saved = save(new ReplicaFixture().replica);
    // The config's length, and that of the sessions.
    for (int place : new int[] {4, 4 + 4 + 28}) {
      byte[] damaged = saved.clone();
      damaged[place] = 0x3f;
      assertThatThrownBy(() -> load(damaged)).isInstanceOf(IOException.class);
      damaged[place] = -1;
      assertThatThrownBy(() -> load(damaged)).isInstanceOf(IOException.class);
    }
  }

  private static void applyRandom(ReplicaFixture fixture, Random random, int entries) {
    for (int i = 0; i < entries; i++) {
      LogEntry entry = randomEntry(fixture, random);
      fixture.replica.apply(entry);
      fixture.leadership.entryApplied(entry);
    }
  }

  private static LogEntry randomEntry(ReplicaFixture fixture, Random random) {
    List<Command> commands = new ArrayList<>();
    for (int i = random.nextInt(4); i >= 0; i--) {
      commands.add(randomCommand(fixture, random));
    }
    return fixture.leadership.entry(commands, fixture.replica.last() + random.nextInt(100));
  }

  private static Command randomCommand(ReplicaFixture fixture, Random random) {
    long session = 1L + random.nextInt(5);
    UUID id = new UUID(2, random.nextInt(30));
    return switch (random.nextInt(12)) {
      case 0 -> new Command.OpenSession(new UUID(1, random.nextInt(3)), random.nextInt(10));
      case 10, 11 -> new Command.Configure(RandomReports.next(random));
      case 1 -> random.nextInt(5) == 0 ? new Command.FenceSession(session) : blind(session, 1, 7);
      case 2 -> new Command.Abort(id, (long) random.nextInt(2) * fixture.replica.last());
      case 3 -> new Command.IssueTimestamp(fixture.replica.last() + random.nextInt(50));
      case 4, 5 ->
          fixture.replica.oracle().pendingCommits().stream()
              .findFirst()
              .<Command>map(first -> new Command.Applied(first.commitTimestamp()))
              .orElse(new Command.Applied(3));
      case 6 ->
          fixture.replica.overdue(fixture.replica.last()).stream()
              .findFirst()
              .<Command>map(Command.DeclareInDoubt::new)
              .orElse(new Command.DeclareInDoubt(3));
      default ->
          ReplicaFixture.commit(
              session,
              random.nextInt(20),
              id,
              fixture.replica.stable() - random.nextInt(50),
              random.nextInt(20),
              random.nextInt(20));
    };
  }
}
