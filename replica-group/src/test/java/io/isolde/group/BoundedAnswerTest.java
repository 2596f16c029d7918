// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.isolde.raft.GroupFailure;
import io.isolde.raft.GroupFailure.Reason;
import io.isolde.raft.Peer;
import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class BoundedAnswerTest {
  private static final long LONG_MILLIS = 300_000;
  private static final Peer OLD = peer("old");
  private static final Peer NEW = peer("new");

  private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
  private final AtomicReference<Optional<Peer>> known = new AtomicReference<>(Optional.of(OLD));
  private final CompletableFuture<byte[]> answer = new CompletableFuture<>();

  private static Peer peer(String id) {
    return new Peer(id, InetSocketAddress.createUnresolved(id, 1));
  }

  @AfterEach
  void stop() {
    timer.shutdownNow();
  }

  private CompletableFuture<byte[]> ask(Peer asked, long millis) {
    return BoundedAnswer.bounded(answer, asked, known::get, millis, timer);
  }

  private static GroupFailure failure(CompletableFuture<byte[]> bounded) {
    return (GroupFailure) catchThrowable(bounded::join).getCause();
  }

  @Test
  void whenTheAnswerComesThenItIsPassedOn() {
    CompletableFuture<byte[]> bounded = ask(OLD, LONG_MILLIS);
    answer.complete(new byte[] {7});
    assertThat(bounded.join()).containsExactly(7);
  }

  @Test
  void whenTheAnswerIsAFailureThenItIsPassedOn() {
    CompletableFuture<byte[]> bounded = ask(OLD, LONG_MILLIS);
    GroupFailure overloaded = new GroupFailure(Reason.OVERLOADED, "busy");
    answer.completeExceptionally(overloaded);
    assertThat(failure(bounded)).isSameAs(overloaded);
  }

  @Test
  void whenAnotherNodeLeadsThenNobodyWaitsForTheOldLeader() {
    CompletableFuture<byte[]> bounded = ask(OLD, LONG_MILLIS);
    known.set(Optional.empty()); // While there is an election.
    known.set(Optional.of(NEW));
    GroupFailure failure = failure(bounded);
    assertThat(failure.reason()).isEqualTo(Reason.UNKNOWN);
    assertThat(failure.leader()).contains(NEW);
  }

  @Test
  void whenTheReplicaHereIsBehindThenTheOneWhoWasAskedHasItsTime() {
    CompletableFuture<byte[]> bounded = ask(NEW, 200);
    known.set(Optional.of(NEW));
    GroupFailure failure = failure(bounded);
    assertThat(failure.leader()).isEmpty();
    assertThat(failure).hasMessage("The leader does not answer.");
  }

  @Test
  void whenItIsKnownFromTheStartThatAnotherLeadsThenTheOneThatIsAskedHasLittleTime() {
    assertThat(failure(ask(NEW, LONG_MILLIS))).hasMessage("The leader does not answer.");
  }

  @Test
  void whenNobodyAnswersAndNothingChangesThenTimeEndsIt() {
    assertThat(failure(ask(OLD, 100)).reason()).isEqualTo(Reason.UNKNOWN);
    assertThat(failure(ask(null, 100)).reason()).isEqualTo(Reason.UNKNOWN);
  }

  @Test
  void whenTheReplicaHereCanNotTellThenTheWaitEnds() {
    AtomicInteger looks = new AtomicInteger();
    CompletableFuture<byte[]> bounded =
        BoundedAnswer.bounded(
            answer,
            OLD,
            () -> {
              if (looks.getAndIncrement() > 0) {
                throw new IllegalStateException("closed");
              }
              return Optional.of(OLD);
            },
            LONG_MILLIS,
            timer);
    assertThat(failure(bounded)).hasMessage("closed");
  }

  @Test
  void whenTheClientIsClosedThenNobodyWaits() {
    timer.shutdown();
    assertThat(failure(ask(OLD, LONG_MILLIS)).reason()).isEqualTo(Reason.UNKNOWN);
  }
}
