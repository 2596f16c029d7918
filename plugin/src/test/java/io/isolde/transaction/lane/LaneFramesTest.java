// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction.lane;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.oracle.group.Stable;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class LaneFramesTest {
  private static final byte[] ONE = {1, 2, 3};
  private static final byte[] EMPTY = {};
  private static final byte[] TWO = {4};

  @Test
  void whatIsEncodedIsDecoded() {
    List<byte[]> parcels =
        List.of(
            LaneFrames.parcel(LaneFrames.NO_COMMIT, List.of(ONE, EMPTY, TWO)),
            LaneFrames.parcel(5, List.of(TWO)),
            LaneFrames.parcel(6, List.of()));

    LaneFrames.Frame frame = LaneFrames.decode(LaneFrames.encode(12, 1_700_000_000_000L, parcels));

    assertThat(frame)
        .isEqualTo(
            new LaneFrames.Frame(
                12,
                1_700_000_000_000L,
                List.of(content(0, ONE, EMPTY, TWO), content(5, TWO), content(6))));
  }

  private static LaneFrames.Content content(long commit, byte[]... mutations) {
    return new LaneFrames.Content(
        commit, List.of(mutations).stream().map(ByteBuffer::wrap).toList());
  }

  @Test
  void whatIsAnsweredIsUnderstood() {
    List<LaneFrames.Answer> answers =
        List.of(
            new LaneFrames.Answer(List.of(true, false, true), Optional.empty()),
            new LaneFrames.Answer(List.of(true), Optional.of(new Stable(1_700_000_000_000L, 3))));

    for (LaneFrames.Answer answer : answers) {
      assertThat(LaneFrames.decodeAnswer(LaneFrames.encode(answer), answer.done().size()))
          .contains(answer);
    }
  }

  @Test
  void anAnswerToAnotherNumberOfParcelsIsNone() {
    assertThat(LaneFrames.decodeAnswer(new byte[] {LaneFrames.DONE}, 2)).isEmpty();
    assertThat(LaneFrames.decodeAnswer(new byte[17], 2)).isEmpty();
  }
}
