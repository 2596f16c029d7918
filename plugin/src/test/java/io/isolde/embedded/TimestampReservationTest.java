// SPDX-License-Identifier: Apache-2.0
package io.isolde.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TimestampReservationTest {
  @TempDir private Path folder;

  @Test
  void whenNothingWasReservedThenItIsZero() {
    assertThat(new TimestampReservation(folder.resolve("reservation")).read()).isZero();
  }

  @Test
  void whenSomethingWasReservedThenAnotherProcessReadsIt() {
    Path file = folder.resolve("new folder").resolve("reservation");
    new TimestampReservation(file).write(17);
    new TimestampReservation(file).write(1_795_297_897_604_134L);
    assertThat(new TimestampReservation(file).read()).isEqualTo(1_795_297_897_604_134L);
  }

  @Test
  void whenTheFileIsDamagedThenTheStartIsRefusedAndSaysWhatToDo() throws IOException {
    Path file = Files.writeString(folder.resolve("reservation"), "17x");
    assertThatThrownBy(() -> new TimestampReservation(file).read())
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("is damaged")
        .hasMessageContaining(file.toString());
  }

  @Test
  void whenItCannotBeWrittenThenNobodyGetsATimestamp() throws IOException {
    Path notAFolder = Files.writeString(folder.resolve("file"), "");
    TimestampReservation reservation = new TimestampReservation(notAFolder.resolve("reservation"));
    assertThatThrownBy(() -> reservation.write(1)).hasMessageContaining("can't be written");
  }
}
