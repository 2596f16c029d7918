// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

import static io.isolde.oracle.OracleFixture.CONFIG;
import static io.isolde.oracle.OracleFixture.blindWrite;
import static io.isolde.oracle.OracleFixture.decide;
import static io.isolde.oracle.OracleFixture.update;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.UUID;
import java.util.zip.CRC32;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class SavedStateTest {
  private static byte[] bytesOf(StatusOracle oracle) throws IOException {
    return bytesOf(oracle.snapshot());
  }

  private static byte[] bytesOf(SavedState state) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    state.writeTo(new DataOutputStream(bytes));
    return bytes.toByteArray();
  }

  private static StatusOracle load(OracleConfig config, byte[] bytes) throws IOException {
    return StatusOracle.load(config, new DataInputStream(new ByteArrayInputStream(bytes)));
  }

  @Property(tries = 500)
  void whateverWasDoneThenALoadedOracleGoesOnAsTheSavedOne(
      @ForAll long seed,
      @ForAll @IntRange(max = 200) int before,
      @ForAll @IntRange(min = 1, max = 30) int maxRows)
      throws IOException {
    OracleConfig config =
        CONFIG
            .withMaxRows(maxRows)
            .withMaxOutcomes(5)
            .withMaxPendingCommits(4)
            .withRetentionMicros(20);
    RandomCommands commands = new RandomCommands(seed);
    StatusOracle saved = new StatusOracle(config);
    for (int i = 0; i < before; i++) {
      commands.next().apply(saved);
    }
    StatusOracle loaded = load(commands.configOf(config), bytesOf(saved));
    assertThat(loaded.statistics()).isEqualTo(saved.statistics());
    for (int i = 0; i < 200; i++) {
      RandomCommands.Command command = commands.next();
      assertThat(command.apply(loaded)).isEqualTo(command.apply(saved));
      assertThat(loaded.statistics()).isEqualTo(saved.statistics());
    }
  }

  @Test
  void whenCommandsAreRandomThenEveryKindOfDecisionOccurs() {
    RandomCommands commands = new RandomCommands(1);
    StatusOracle oracle = new StatusOracle(CONFIG.withMaxPendingCommits(4));
    for (int i = 0; i < 20_000; i++) {
      commands.next().apply(oracle);
    }
    OracleStatistics seen = oracle.statistics();
    assertThat(seen.committed()).isGreaterThan(1000);
    assertThat(seen.readWriteAborts()).isGreaterThan(100);
    assertThat(seen.writeWriteAborts()).isGreaterThan(100);
    assertThat(seen.forgottenAborts()).isGreaterThan(100);
    assertThat(seen.requestedAborts()).isGreaterThan(10);
    assertThat(seen.refused()).isGreaterThan(100);
  }

  @Property(tries = 100)
  void whateverHappensAfterASnapshotThenItStaysAsItWas(@ForAll long seed) throws IOException {
    RandomCommands commands = new RandomCommands(seed);
    StatusOracle oracle = new StatusOracle(CONFIG.withMaxRows(20).withMaxOutcomes(5));
    for (int i = 0; i < 60; i++) {
      commands.next().apply(oracle);
    }
    byte[] atOnce = bytesOf(oracle);
    SavedState snapshot = oracle.snapshot();
    for (int i = 0; i < 60; i++) {
      commands.next().apply(oracle);
    }
    assertThat(bytesOf(snapshot)).isEqualTo(atOnce);
  }

  @Test
  void whenTheFormatChangesThenSoMustItsNumber() throws IOException {
    OracleFixture fixture = new OracleFixture(CONFIG.withMaxRows(10).withMaxOutcomes(10));
    UUID first = fixture.transaction();
    fixture.oracle.commit(blindWrite(first, 0, 1, 2), 7, 0, 100, false);
    fixture.oracle.inDoubt(100);
    decide(fixture.oracle, update(fixture.transaction(), IsolationLevel.SNAPSHOT, 0, 1), 200);
    fixture.oracle.abort(fixture.transaction());
    byte[] bytes = bytesOf(fixture.oracle);
    assertThat(bytes).startsWith(0, 0, 0, 3).hasSize(687);
    CRC32 crc = new CRC32();
    crc.update(bytes);
    assertThat(crc.getValue()).isEqualTo(3_135_704_718L);
  }

  @Test
  void whenTheFormatIsUnknownThenItIsRefused() throws IOException {
    byte[] bytes = bytesOf(new OracleFixture().oracle);
    bytes[3] = 9;
    assertThatThrownBy(() -> load(CONFIG, bytes))
        .isInstanceOf(IOException.class)
        .hasMessage(
            "The oracle's state was saved in format 9, but this build of Isolde reads only 2 to 3."
                + " Start this node with the build that it ran before, or with a newer one.");
  }

  /** A commit, an abort for a conflict and one that was asked for, as format 2 had them. */
  @Test
  void whenAnEarlierBuildSavedItThenAllRequestsGetItsDecisionsAsThatBuildGaveThem()
      throws IOException {
    byte[] saved;
    try (var in = getClass().getResourceAsStream("/state-format-2.bin")) {
      saved = in.readAllBytes();
    }
    assertThat(saved).startsWith(0, 0, 0, 2);
    OracleConfig config = CONFIG.withMaxRows(10).withMaxOutcomes(10);
    // Saved again, what is not known stays so.
    StatusOracle loaded = load(config, bytesOf(load(config, saved)));
    for (int session = 7; session < 9; session++) {
      assertThat(loaded.commit(blindWrite(new UUID(1, 1), 0, 1, 2), session, 1, 300, false))
          .isEqualTo(new Decision.Committed(100, 0));
      assertThat(
              loaded.commit(
                  update(new UUID(1, 2), IsolationLevel.SNAPSHOT, 0, 1), session, 2, 300, false))
          .isInstanceOf(Decision.Aborted.class);
    }
    assertThat(loaded.outcome(new UUID(1, 3))).contains(new Outcome.Aborted(Conflict.REQUESTED));
    assertThat(loaded.statistics().inDoubtCommits()).isOne();
    assertThat(loaded.commit(blindWrite(new UUID(1, 4), 0, 3), 7, 3, 300, false))
        .isInstanceOf(Decision.Committed.class);
    assertThat(loaded.commit(blindWrite(new UUID(1, 4), 0, 3), 8, 3, 300, false))
        .isEqualTo(new Decision.Refused(Refusal.ID_TAKEN));
  }

  @Test
  void whenLoadedWithAnotherConfigurationThenItIsReconfigured() throws IOException {
    OracleFixture fixture = new OracleFixture();
    long commit = fixture.commitAndApply(100, 1);
    StatusOracle loaded = load(CONFIG.withMaxRows(2000), bytesOf(fixture.oracle));
    assertThat(loaded.statistics().rowsKept()).isZero();
    assertThat(loaded.statistics().tmax()).isEqualTo(commit);
  }
}
