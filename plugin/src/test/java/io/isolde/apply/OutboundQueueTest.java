// SPDX-License-Identifier: Apache-2.0
package io.isolde.apply;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.raft.ByteBudget;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

class OutboundQueueTest {
  private static final int MEMORY_BYTES = 16 << 20;

  private final List<List<byte[]>> messages = new ArrayList<>();
  private final List<CompletableFuture<byte[]>> answers = new ArrayList<>();
  private final List<String> fates = new ArrayList<>();
  private final CompletableFuture<Void> isLost = new CompletableFuture<>();
  private long nowNanos = Long.MAX_VALUE - 5; // It may overflow.

  private final ByteBudget memory = new ByteBudget(MEMORY_BYTES);
  private final OutboundQueue queue = new OutboundQueue(this::ask, () -> nowNanos, memory);

  private CompletableFuture<byte[]> ask(List<byte[]> message) {
    messages.add(message);
    answers.add(new CompletableFuture<>());
    return answers.get(answers.size() - 1);
  }

  private final class Letter implements BatchItem {
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
    public void acknowledged() {
      if (name.equals("bad")) {
        throw new IllegalStateException("of who waits for it");
      }
      fates.add(name + " arrived");
    }

    @Override
    public void undelivered() {
      fates.add(name + " lost");
      isLost.complete(null);
    }
  }

  private boolean offer(String name) {
    return queue.offer(new Letter(name, name.getBytes(StandardCharsets.UTF_8)));
  }

  private static List<String> texts(List<byte[]> message) {
    return message.stream().map(bytes -> new String(bytes, StandardCharsets.UTF_8)).toList();
  }

  private static byte[] done(int count) {
    byte[] answer = new byte[count];
    Arrays.fill(answer, BatchFrames.DONE);
    return answer;
  }

  @Test
  void withoutLoadEachLeavesAtOnce() {
    assertThat(offer("a")).isTrue();
    answers.get(0).complete(done(1));
    assertThat(offer("b")).isTrue();

    assertThat(messages)
        .extracting(OutboundQueueTest::texts)
        .containsExactly(List.of("a"), List.of("b"));
    assertThat(fates).containsExactly("a arrived");
  }

  @Test
  void thoseThatComeMeanwhileLeaveTogether() {
    List.of("a", "b", "c", "d", "e").forEach(this::offer);
    assertThat(messages).hasSize(OutboundQueue.MAX_IN_FLIGHT);

    answers.get(0).complete(done(1));

    assertThat(messages)
        .extracting(OutboundQueueTest::texts)
        .containsExactly(List.of("a"), List.of("b"), List.of("c", "d", "e"));
    answers.get(2).complete(done(3));
    assertThat(fates).containsExactly("a arrived", "c arrived", "d arrived", "e arrived");
  }

  @Test
  void aMessageIsBounded() {
    List.of("a", "b").forEach(this::offer);
    byte[] half = new byte[OutboundQueue.MAX_FRAME_BYTES / 2];
    for (int i = 0; i < 3; i++) {
      assertThat(queue.offer(new Letter("half " + i, half))).isTrue();
    }

    answers.get(0).complete(done(1));

    assertThat(messages.get(2)).hasSize(2);
    answers.get(1).complete(done(1));
    assertThat(messages.get(3)).hasSize(1);
  }

  @Test
  void whatIsTooLargeOrTooManyIsNotTaken() {
    assertThat(queue.offer(new Letter("big", new byte[OutboundQueue.MAX_FRAME_BYTES + 1])))
        .isFalse();
    for (int i = 0; i < OutboundQueue.MAX_IN_FLIGHT + OutboundQueue.MAX_WAITING; i++) {
      assertThat(offer("x")).isTrue();
    }
    assertThat(offer("one more")).isFalse();
  }

  /**
   * A node has an outbound queue to each replica: none of its own bound would hold for all
   * together.
   */
  @Test
  void allQueuesTogetherAreBoundedInBytesUntilTheirMessagesAreAnswered() {
    OutboundQueue other = new OutboundQueue(this::ask, () -> nowNanos, memory);
    byte[] half = new byte[OutboundQueue.MAX_FRAME_BYTES / 2];
    int fitting = MEMORY_BYTES / OutboundQueue.COPIES / half.length;
    for (int i = 0; i < fitting; i++) {
      assertThat((i % 2 == 0 ? queue : other).offer(new Letter("x", half))).isTrue();
    }
    assertThat(queue.offer(new Letter("one more", half))).isFalse();
    assertThat(other.offer(new Letter("one more", half))).isFalse();

    answers.get(0).complete(done(1));

    assertThat(other.offer(new Letter("one more", half))).isTrue();
  }

  @Test
  void whatCanNotBeSentIsLostAndTakesNoMemoryAnyMore() {
    OutboundQueue broken =
        new OutboundQueue(
            message -> {
              throw new IllegalStateException("not encoded");
            },
            () -> nowNanos,
            memory);

    broken.offer(new Letter("x", new byte[OutboundQueue.MAX_FRAME_BYTES]));

    assertThat(fates).containsExactly("x lost");
    assertThat(memory.take(MEMORY_BYTES)).isTrue();
  }

  @Test
  void whatIsLostTakesNoMemoryAnyMore() {
    byte[] half = new byte[OutboundQueue.MAX_FRAME_BYTES / 2];
    for (int i = 0; i < 4; i++) {
      queue.offer(new Letter("x", half));
    }
    answers.get(0).completeExceptionally(new IOException("gone"));
    answers.get(1).completeExceptionally(new IOException("gone"));

    assertThat(memory.take(MEMORY_BYTES)).isTrue();
  }

  @Test
  void whatTheReplicaDidNotTakeGoesAnotherWayAlone() {
    List.of("a", "b", "c", "d").forEach(this::offer);
    answers.get(0).complete(done(1));
    answers.get(2).complete(new byte[] {0, BatchFrames.DONE});

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
    nowNanos += OutboundQueue.BACK_OFF_NANOS - 1;
    assertThat(offer("e")).isFalse();
    nowNanos += 1;
    assertThat(offer("f")).isTrue();
    assertThat(texts(messages.get(2))).containsExactly("f");
  }

  @Test
  void whenWhoeverWaitsForAnItemFailsThenTheOthersHearAllTheSame() {
    List.of("a", "b", "c", "bad", "d").forEach(this::offer);
    answers.get(0).complete(done(1));

    answers.get(2).complete(done(3));

    assertThat(fates).containsExactly("a arrived", "c arrived", "d arrived");
  }

  @Test
  void anAnswerToAnotherNumberOfItemsTellsNothing() {
    List.of("a", "b", "c", "d").forEach(this::offer);
    answers.get(0).complete(done(1));

    answers.get(1).complete(done(17));
    answers.get(2).complete(done(1));

    assertThat(fates).containsExactly("a arrived", "b lost", "c lost", "d lost");
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
