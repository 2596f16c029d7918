// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction.lane;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.oracle.group.Stable;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

class LaneTest {
  private final List<List<byte[]>> messages = new ArrayList<>();
  private final List<CompletableFuture<byte[]>> answers = new ArrayList<>();
  private final List<String> fates = new ArrayList<>();
  private final CompletableFuture<Void> isLost = new CompletableFuture<>();
  private long nowNanos = Long.MAX_VALUE - 5; // It may overflow.

  private final Lane lane = new Lane(this::ask, () -> nowNanos);

  private CompletableFuture<byte[]> ask(List<byte[]> message) {
    messages.add(message);
    answers.add(new CompletableFuture<>());
    return answers.get(answers.size() - 1);
  }

  private final class Letter implements Parcel {
    private final String name;
    private final byte[] bytes;

    Letter(String name, byte[] bytes) {
      this.name = name;
      this.bytes = bytes;
    }

    @Override
    public byte[] bytes() {
      return bytes;
    }

    @Override
    public void acknowledged(Optional<Stable> stable) {
      if (name.equals("bad")) {
        throw new IllegalStateException("of who waits for it");
      }
      fates.add(name + " arrived" + stable.map(now -> " by " + now.timestamp()).orElse(""));
    }

    @Override
    public void undelivered() {
      fates.add(name + " lost");
      isLost.complete(null);
    }
  }

  private boolean offer(String name) {
    return lane.offer(new Letter(name, name.getBytes(StandardCharsets.UTF_8)));
  }

  private static List<String> texts(List<byte[]> message) {
    return message.stream().map(bytes -> new String(bytes, StandardCharsets.UTF_8)).toList();
  }

  private static byte[] done(int count) {
    byte[] answer = new byte[count];
    Arrays.fill(answer, LaneFrames.DONE);
    return answer;
  }

  @Test
  void withoutLoadEachLeavesAtOnce() {
    assertThat(offer("a")).isTrue();
    answers.get(0).complete(done(1));
    assertThat(offer("b")).isTrue();

    assertThat(messages).extracting(LaneTest::texts).containsExactly(List.of("a"), List.of("b"));
    assertThat(fates).containsExactly("a arrived");
  }

  @Test
  void thoseThatComeMeanwhileLeaveTogether() {
    List.of("a", "b", "c", "d", "e").forEach(this::offer);
    assertThat(messages).hasSize(Lane.MAX_IN_FLIGHT);

    answers.get(0).complete(done(1));

    assertThat(messages)
        .extracting(LaneTest::texts)
        .containsExactly(List.of("a"), List.of("b"), List.of("c", "d", "e"));
    answers.get(2).complete(done(3));
    assertThat(fates).containsExactly("a arrived", "c arrived", "d arrived", "e arrived");
  }

  @Test
  void aMessageIsBounded() {
    List.of("a", "b").forEach(this::offer);
    byte[] half = new byte[Lane.MAX_FRAME_BYTES / 2];
    for (int i = 0; i < 3; i++) {
      assertThat(lane.offer(new Letter("half " + i, half))).isTrue();
    }

    answers.get(0).complete(done(1));

    assertThat(messages.get(2)).hasSize(2);
    answers.get(1).complete(done(1));
    assertThat(messages.get(3)).hasSize(1);
  }

  @Test
  void whatIsTooLargeOrTooManyIsNotTaken() {
    assertThat(lane.offer(new Letter("big", new byte[Lane.MAX_FRAME_BYTES + 1]))).isFalse();
    for (int i = 0; i < Lane.MAX_IN_FLIGHT + Lane.MAX_WAITING; i++) {
      assertThat(offer("x")).isTrue();
    }
    assertThat(offer("one more")).isFalse();
  }

  @Test
  void whatWaitsIsBoundedInBytes() {
    List.of("a", "b").forEach(this::offer);
    byte[] half = new byte[Lane.MAX_FRAME_BYTES / 2];
    int fitting = Lane.MAX_WAITING_BYTES / half.length;
    for (int i = 0; i < fitting; i++) {
      assertThat(lane.offer(new Letter("x", half))).isTrue();
    }
    assertThat(offer("one more")).isFalse();

    answers.get(0).complete(done(1)); // Two of them leave.

    assertThat(offer("one more")).isTrue();
  }

  @Test
  void whatTheReplicaDidNotTakeGoesAnotherWayAlone() {
    List.of("a", "b", "c", "d").forEach(this::offer);
    answers.get(0).complete(done(1));
    answers.get(2).complete(new byte[] {0, LaneFrames.DONE});

    assertThat(fates).containsExactly("a arrived", "c lost", "d arrived");
    assertThat(offer("e")).isTrue();
  }

  @Test
  void whenAMessageFailsAllGoesAnotherWayForAWhile() {
    List.of("a", "b", "c").forEach(this::offer);

    answers.get(0).completeExceptionally(new IOException("closed"));

    assertThat(fates).containsExactly("a lost", "c lost");
    assertThat(offer("d")).isFalse();
    answers.get(1).complete(done(1)); // It was only slow.
    assertThat(fates).contains("b arrived");
    nowNanos += Lane.REST_NANOS - 1;
    assertThat(offer("e")).isFalse();
    nowNanos += 1;
    assertThat(offer("f")).isTrue();
    assertThat(texts(messages.get(2))).containsExactly("f");
  }

  @Test
  void whenWhoeverWaitsForAParcelFailsThenTheOthersAreToldAllTheSame() {
    List.of("a", "b", "c", "bad", "d").forEach(this::offer);
    answers.get(0).complete(done(1));

    answers.get(2).complete(done(3));

    assertThat(fates).containsExactly("a arrived", "c arrived", "d arrived");
  }

  @Test
  void whatTheReplicaSaysToBeStableIsToldWithEachParcel() {
    List.of("a", "b", "c", "d").forEach(this::offer);
    answers.get(0).complete(done(1));

    answers
        .get(2)
        .complete(
            LaneFrames.encode(
                new LaneFrames.Answer(List.of(true, false), Optional.of(new Stable(7, 1)))));

    assertThat(fates).containsExactly("a arrived", "c arrived by 7", "d lost");
  }

  @Test
  void anAnswerThatIsTooShortTellsNothing() {
    List.of("a", "b", "c", "d").forEach(this::offer);
    answers.get(0).complete(done(1));

    answers.get(2).complete(done(1));

    assertThat(fates).containsExactly("a arrived", "c lost", "d lost");
  }

  @Test
  void silenceIsNotWaitedForWithoutEnd() {
    offer("a");

    isLost.join();
    assertThat(answers.get(0).handle((answer, late) -> late).join())
        .isInstanceOf(TimeoutException.class);
    assertThat(fates).containsExactly("a lost");
    answers.get(0).complete(done(1));
    assertThat(fates).hasSize(1);
  }
}
