// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

import static io.isolde.oracle.OracleFixture.CONFIG;
import static io.isolde.oracle.OracleFixture.blindWrite;
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
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    oracle.save(new DataOutputStream(bytes));
    return bytes.toByteArray();
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
    StatusOracle saved = new StatusOracle(config, 50);
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
    StatusOracle oracle = new StatusOracle(CONFIG.withMaxPendingCommits(4), 50);
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
    StatusOracle oracle = new StatusOracle(CONFIG.withMaxRows(20).withMaxOutcomes(5), 0);
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
    fixture.oracle.commitUndecided(blindWrite(first, 0, 1, 2), 7, 100);
    fixture.oracle.setAside(100);
    fixture.oracle.commit(update(fixture.transaction(), IsolationLevel.SNAPSHOT, 0, 1), 200);
    fixture.oracle.abort(fixture.transaction());
    byte[] bytes = bytesOf(fixture.oracle);
    assertThat(bytes).startsWith(0, 0, 0, 2).hasSize(639);
    CRC32 crc = new CRC32();
    crc.update(bytes);
    assertThat(crc.getValue()).isEqualTo(834_092_737L);
  }

  @Test
  void whenTheFormatIsUnknownThenItIsRefused() throws IOException {
    byte[] bytes = bytesOf(new OracleFixture().oracle);
    bytes[3] = 9;
    assertThatThrownBy(() -> load(CONFIG, bytes))
        .isInstanceOf(IOException.class)
        .hasMessage(
            "The oracle's state was saved in format 9, but this version reads only format 2.");
  }

  @Test
  void whenTransactionsAreOpenThenTheyAreNotSaved() throws IOException {
    OracleFixture fixture = new OracleFixture();
    fixture.oracle.begin(fixture.transaction(), 100);
    StatusOracle loaded = load(CONFIG, bytesOf(fixture.oracle));
    assertThat(loaded.statistics().openTransactions()).isZero();
    assertThat(loaded.stable(200)).isEqualTo(200);
    assertThat(loaded.lowWatermark()).isEqualTo(200);
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
