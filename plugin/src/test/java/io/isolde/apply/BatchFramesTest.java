// SPDX-License-Identifier: Apache-2.0
package io.isolde.apply;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.oracle.group.Stable;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class BatchFramesTest {
  private static final byte[] ONE = {1, 2, 3};
  private static final byte[] EMPTY = {};
  private static final byte[] TWO = {4};

  @Test
  void whatIsEncodedIsDecoded() {
    List<byte[]> items =
        List.of(
            BatchFrames.item(BatchFrames.NO_COMMIT, List.of(ONE, EMPTY, TWO)),
            BatchFrames.item(5, List.of(TWO)),
            BatchFrames.item(6, List.of()));

    BatchFrames.Frame frame = BatchFrames.decode(BatchFrames.encode(12, 1_700_000_000_000L, items));

    assertThat(frame)
        .isEqualTo(
            new BatchFrames.Frame(
                12,
                1_700_000_000_000L,
                List.of(content(0, ONE, EMPTY, TWO), content(5, TWO), content(6))));
  }

  private static BatchFrames.Content content(long commit, byte[]... mutations) {
    return new BatchFrames.Content(
        commit, List.of(mutations).stream().map(ByteBuffer::wrap).toList());
  }

  @Test
  void whatIsAnsweredIsUnderstood() {
    List<BatchFrames.Answer> answers =
        List.of(
            new BatchFrames.Answer(List.of(true, false, true), Optional.empty()),
            new BatchFrames.Answer(List.of(true), Optional.of(new Stable(1_700_000_000_000L, 3))));

    for (BatchFrames.Answer answer : answers) {
      assertThat(BatchFrames.decodeAnswer(BatchFrames.encode(answer), answer.done().size()))
          .contains(answer);
    }
  }

  @Test
  void anAnswerToAnotherNumberOfParcelsIsNone() {
    assertThat(BatchFrames.decodeAnswer(new byte[] {BatchFrames.DONE}, 2)).isEmpty();
    assertThat(BatchFrames.decodeAnswer(new byte[17], 2)).isEmpty();
  }
}
