// SPDX-License-Identifier: Apache-2.0
package io.isolde.apply;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.Test;

class BatchFramesTest {
  private static final byte[] ONE = {1, 2, 3};
  private static final byte[] EMPTY = {};
  private static final byte[] TWO = {4};

  @Test
  void whatIsEncodedIsDecoded() {
    List<byte[]> items =
        List.of(
            BatchFrames.item(List.of(ONE, EMPTY, TWO)),
            BatchFrames.item(List.of(TWO)),
            BatchFrames.item(List.of()));

    BatchFrames.Frame frame = BatchFrames.decode(BatchFrames.encode(12, 1_700_000_000_000L, items));

    assertThat(frame)
        .isEqualTo(
            new BatchFrames.Frame(
                12,
                1_700_000_000_000L,
                List.of(mutations(ONE, EMPTY, TWO), mutations(TWO), mutations())));
  }

  private static List<ByteBuffer> mutations(byte[]... some) {
    return List.of(some).stream().map(ByteBuffer::wrap).toList();
  }
}
