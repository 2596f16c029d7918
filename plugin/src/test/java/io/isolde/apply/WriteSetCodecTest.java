// SPDX-License-Identifier: Apache-2.0
package io.isolde.apply;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.isolde.testing.CassandraInProcess;
import java.io.ByteArrayOutputStream;
import java.nio.BufferUnderflowException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class WriteSetCodecTest {
  @BeforeAll
  static void start() {
    CassandraInProcess.start();
    CassandraInProcess.execute("CREATE TABLE IF NOT EXISTS test.cut (id int PRIMARY KEY, v text)");
  }

  private static PartitionUpdate write(int id, int bytes) {
    PartitionUpdate.SimpleBuilder update =
        PartitionUpdate.simpleBuilder(CassandraInProcess.table("cut").metadata(), id).timestamp(1);
    update.row().add("v", "x".repeat(bytes));
    return update.build();
  }

  private static List<byte[]> cut(List<PartitionUpdate> updates, int partBytes) {
    List<byte[]> parts = new ArrayList<>();
    WriteSetCodec.encode(updates, partBytes, parts::add);
    return parts;
  }

  @Test
  void whenAWriteSetIsCutThenItsPartsAreTheSameBytesAndReadTheSame() {
    Random random = new Random(4);
    for (int run = 0; run < 50; run++) {
      List<PartitionUpdate> updates = new ArrayList<>();
      for (int id = random.nextInt(20); id >= 0; id--) {
        updates.add(write(id, random.nextInt(400)));
      }
      int partBytes = 1 + random.nextInt(500);
      List<byte[]> parts = cut(updates, partBytes);
      ByteArrayOutputStream joined = new ByteArrayOutputStream();
      parts.forEach(joined::writeBytes);
      assertThat(joined.toByteArray()).isEqualTo(WriteSetCodec.encode(updates));
      assertThat(parts.subList(0, parts.size() - 1)).allMatch(part -> part.length == partBytes);
      assertThat(parts.get(parts.size() - 1)).hasSizeBetween(1, partBytes);
      assertThat(WriteSetCodec.decode(parts).updates()).isEqualTo(updates);
    }
  }

  @Test
  void whenTheEndIsMissingThenItIsNotRead() {
    List<byte[]> parts = cut(List.of(write(1, 100), write(2, 100)), 64);
    assertThatThrownBy(() -> WriteSetCodec.decode(parts.subList(0, parts.size() - 1)))
        .isInstanceOf(BufferUnderflowException.class);
  }
}
