// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction.lane;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.Test;

class LaneFramesTest {
  @Test
  void whatIsEncodedIsDecoded() {
    List<byte[]> mutations = List.of(new byte[] {1, 2, 3}, new byte[0], new byte[] {4});

    LaneFrames.Frame frame =
        LaneFrames.decode(LaneFrames.encode(12, 1_700_000_000_000L, mutations));

    assertThat(frame)
        .isEqualTo(
            new LaneFrames.Frame(
                12, 1_700_000_000_000L, mutations.stream().map(ByteBuffer::wrap).toList()));
  }
}
