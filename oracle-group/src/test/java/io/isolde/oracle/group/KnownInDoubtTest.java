// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.isolde.oracle.InDoubtCommits;
import io.isolde.raft.GroupFailure;
import io.isolde.raft.GroupFailure.Reason;
import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class KnownInDoubtTest {
  private record Asked(long have, long need, CompletableFuture<Optional<InDoubtCommits>> answer) {}

  private final List<Asked> asked = new ArrayList<>();
  private final KnownInDoubt known =
      new KnownInDoubt(
          (have, need) -> {
            asked.add(new Asked(have, need, new CompletableFuture<>()));
            return asked.get(asked.size() - 1).answer;
          });

  private static InDoubtCommits set(long epoch, long... commits) {
    TreeMap<Long, long[]> all = new TreeMap<>();
    LongStream.of(commits).forEach(commit -> all.put(commit, new long[] {commit, 7}));
    return InDoubtCommits.of(epoch, all);
  }

  private void answer(int question, InDoubtCommits set) {
    asked.get(question).answer.complete(Optional.of(set));
  }

  @Test
  void whenTheEpochIsKnownThenNobodyIsAsked() {
    assertThat(known.await(0)).isCompletedWithValue(InDoubtCommits.NONE);
    assertThat(asked).isEmpty();
  }

  @Test
  void whenAnEpochIsNewThenItIsAskedForOnceByAllWhoNeedIt() {
    var first = known.await(3);
    var second = known.await(2);
    assertThat(asked).hasSize(1);
    assertThat(first).isNotDone();
    answer(0, set(4, 100));
    assertThat(first).isDone();
    assertThat(second).isDone();
    assertThat(known.set().commits().keySet()).containsExactly(100L);
    assertThat(known.await(4)).isDone();
    assertThat(asked).hasSize(1);
  }

  @Test
  void whenTheAnswerUnderWayIsTooOldThenItIsAskedForAgain() {
    var first = known.await(2);
    var later = known.await(5);
    answer(0, set(2, 100));
    assertThat(first).isDone();
    assertThat(later).isNotDone();
    assertThat(asked).hasSize(2);
    assertThat(asked.get(1).have).isEqualTo(2);
    assertThat(asked.get(1).need).isEqualTo(5);
    answer(1, set(5));
    assertThat(later).isDone();
    assertThat(known.set().isEmpty()).isTrue();
  }

  @Test
  void whenAnOlderSetComesThenItIsNotTaken() {
    var unused = known.await(5);
    answer(0, set(5, 100));
    var refreshed = known.refresh();
    answer(1, set(3));
    assertThat(refreshed).isCompletedWithValueMatching(set -> set.epoch() == 5);
    assertThat(known.set().contains(100)).isTrue();
  }

  @Test
  void whenNothingIsNewThenTheSetStays() {
    var unused = known.await(5);
    answer(0, set(5, 100));
    var refreshed = known.refresh();
    asked.get(1).answer.complete(Optional.empty());
    assertThat(refreshed).isCompletedWithValue(known.set());
  }

  @Test
  void whenNobodyAnswersThenAllWhoWaitedAreToldAndTheNextAsksAgain() {
    var first = known.await(1);
    var second = known.await(1);
    asked.get(0).answer.completeExceptionally(new GroupFailure(Reason.TIMED_OUT_UNKNOWN, "nobody"));
    assertThatThrownBy(first::get).hasCauseInstanceOf(GroupFailure.class);
    assertThatThrownBy(second::get).hasCauseInstanceOf(GroupFailure.class);
    var third = known.await(1);
    answer(1, set(1));
    assertThat(third).isDone();
  }

  @Test
  void whenASetGoesOverTheWireThenItIsTheSame() {
    ByteBuf message = InDoubtMessage.write(set(9, 100, 200), 8, Wire.of(Protocol.OK));
    message.readByte();
    InDoubtCommits read = InDoubtMessage.read(message).orElseThrow();
    assertThat(read.epoch()).isEqualTo(9);
    assertThat(read.commits().keySet()).containsExactly(100L, 200L);
    assertThat(read.commits().get(200L)).containsExactly(200, 7);
    assertThat(message.isReadable()).isFalse();
    message.release();
  }

  @Test
  void whenWhoAsksHasTheSetThenItIsNotSent() {
    ByteBuf message = InDoubtMessage.write(set(9, 100), 9, Wire.of(Protocol.OK));
    message.readByte();
    assertThat(InDoubtMessage.read(message)).isEmpty();
    assertThat(message.isReadable()).isFalse();
    message.release();
  }

  @Test
  void whenAMessageClaimsTooMuchThenItIsRefused() {
    ByteBuf message = Wire.of(Protocol.OK).writeBoolean(true).writeLong(9).writeInt(1 << 30);
    message.readByte();
    assertThatThrownBy(() -> InDoubtMessage.read(message))
        .isInstanceOf(IllegalArgumentException.class);
    message.release();
  }
}
