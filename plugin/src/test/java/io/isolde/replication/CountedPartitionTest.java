// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.raft.GroupFailure;
import io.isolde.raft.GroupFailure.Reason;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** What is said of a batch of counters whose partitions end differently. */
class CountedPartitionTest {
  private static final CompletableFuture<byte[]> COUNTED =
      CompletableFuture.completedFuture(new byte[0]);

  private static CompletableFuture<byte[]> failed(Reason reason) {
    return GroupFailure.future(reason, "It failed.");
  }

  private static Reason reason(List<CompletableFuture<byte[]>> partitions) {
    return ((GroupFailure) CountedPartition.failure(partitions)).reason();
  }

  @Test
  void whenAllAreCountedThenNothingHasFailed() {
    assertThat(CountedPartition.failure(List.of(COUNTED, COUNTED))).isNull();
  }

  /** Drivers repeat what was certainly not done, so it must be true of each partition. */
  @Test
  void whenAPartMayBeCountedThenTheOutcomeIsUnknown() {
    assertThat(reason(List.of(COUNTED, failed(Reason.TIMED_OUT))).isOutcomeUnknown()).isTrue();
    assertThat(reason(List.of(failed(Reason.OVERLOADED), COUNTED)).isOutcomeUnknown()).isTrue();
    assertThat(
            reason(List.of(failed(Reason.TIMED_OUT), failed(Reason.TIMED_OUT_UNKNOWN)))
                .isOutcomeUnknown())
        .isTrue();
  }

  @Test
  void whenNothingIsCountedThenThatIsSaid() {
    assertThat(reason(List.of(failed(Reason.OVERLOADED)))).isEqualTo(Reason.OVERLOADED);
    assertThat(reason(List.of(failed(Reason.TIMED_OUT), failed(Reason.TIMED_OUT))))
        .isEqualTo(Reason.TIMED_OUT);
    assertThat(reason(List.of(failed(Reason.UNKNOWN)))).isEqualTo(Reason.UNKNOWN);
  }
}
