// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RetryWindowTest {
  private static final long SEED = Long.getLong("isolde.seed", System.nanoTime());
  private static final long NOON = 1_800_000_000_000_000L;
  private static final long MUCH_LATER = NOON + 10 * RetryWindow.SESSION_MICROS;

  private final RetryWindow window = new RetryWindow();

  @Test
  void whenAWriteMayBeSentAgainThenItIsKnownWhenItWasApplied() {
    window.applied(new RequestId(1, 7, 7), NOON);
    assertThat(window.appliedAt(1, 7)).hasValue(NOON);
    assertThat(window.appliedAt(1, 8)).isEmpty();
    assertThat(window.appliedAt(2, 7)).isEmpty();
  }

  @Test
  void whenAnEarlierBuildHasSavedSessionsInAnotherOrderThenTheirWritesAreKnown()
      throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    DataOutputStream out = new DataOutputStream(bytes);
    out.writeLong(0);
    out.writeInt(2);
    for (int session = 1; session <= 2; session++) {
      long micros = NOON + 100 - 50L * session;
      out.writeLong(session);
      out.writeLong(micros);
      out.writeLong(7); // The oldest that is open.
      out.writeInt(1);
      out.writeLong(7);
      out.writeLong(micros);
    }
    RetryWindow read =
        RetryWindow.ofNodesFrom(new DataInputStream(new ByteArrayInputStream(bytes.toByteArray())));
    read.applied(new RequestId(2, 8, 7), NOON + 60);
    assertThat(read.appliedAt(1, 7)).hasValue(NOON + 50);
    assertThat(read.appliedAt(2, 7)).hasValue(NOON);
    assertThat(read.appliedAt(2, 8)).hasValue(NOON + 60);
  }

  @Test
  void whenItsSenderHasTheAnswerThenItIsForgottenAndNobodySaysThatItWasNotApplied() {
    window.applied(new RequestId(1, 7, 7), NOON);
    window.applied(new RequestId(1, 8, 8), NOON + 2);
    assertThat(window.appliedAt(1, 7)).hasValue(RetryWindow.FORGOTTEN);
    assertThat(window.appliedAt(1, 8)).hasValue(NOON + 2);
  }

  @Test
  void whenMoreAreOpenThanMayBeThenTheOldestAreForgotten() {
    for (int i = 0; i <= RetryWindow.MAX_OPEN; i++) {
      window.applied(new RequestId(1, i, 0), NOON + i);
    }
    assertThat(window.appliedAt(1, 0)).hasValue(RetryWindow.FORGOTTEN);
    assertThat(window.appliedAt(1, 1)).hasValue(NOON + 1);
  }

  @Test
  void whenALeadersClockIsFarAheadThenRepeatedWritesAreStillKnown() {
    window.applied(new RequestId(1, 7, 7), NOON);
    window.applied(new RequestId(2, 1, 1), MUCH_LATER);
    assertThat(window.appliedAt(1, 7)).hasValue(NOON);
  }

  @Test
  void whenThereAreManySessionsThenThoseNotHeardOfForLongGo() {
    for (int session = 1; session <= RetryWindow.FEW_SESSIONS; session++) {
      window.applied(new RequestId(session, 1, 1), NOON + session);
    }
    window.applied(new RequestId(-1, 1, 1), MUCH_LATER);
    assertThat(window.sessions()).isEqualTo(RetryWindow.FEW_SESSIONS);
    assertThat(window.appliedAt(1, 1)).isEmpty();
    assertThat(window.appliedAt(2, 1)).hasValue(NOON + 2);
    assertThat(window.appliedAt(-1, 1)).hasValue(MUCH_LATER);
  }

  @Test
  void whenAClientIsNotHeardOfForLongThenItsOldWritesAreForgottenAndNotNew() {
    window.applied(new RequestId(-1, NOON, NOON), NOON + 2);
    for (int client = 1; client <= RetryWindow.FEW_SESSIONS; client++) {
      long micros = MUCH_LATER + 2L * client;
      window.applied(new RequestId(client, micros, micros), micros);
    }
    assertThat(window.sessions()).isEqualTo(RetryWindow.FEW_SESSIONS);
    assertThat(window.appliedAt(-1, NOON)).hasValue(RetryWindow.FORGOTTEN);
    assertThat(window.appliedAt(-1, MUCH_LATER)).isEmpty();
  }

  @Test
  void whenThereAreTooManyClientsThenFurtherOnesAreRefusedForGood() {
    for (int client = 1; client <= RetryWindow.MAX_CLIENTS; client++) {
      RequestId id = new RequestId(client, NOON + client, NOON + client);
      assertThat(window.admits(id, NOON)).isTrue();
      window.applied(id, NOON + 2L * client);
    }
    RequestId further = new RequestId(-1, NOON + 1_000_000, NOON + 1_000_000);
    assertThat(window.admits(further, NOON + 1_000_000)).isFalse();
    assertThat(window.appliedAt(-1, further.number())).hasValue(RetryWindow.REFUSED);
    assertThat(window.appliedAt(1, NOON + 1)).as("all others are known").hasValue(NOON + 2);

    long later = NOON + 2 * RetryWindow.MIN_SILENCE_MICROS;
    assertThat(window.appliedAt(-1, further.number())).hasValue(RetryWindow.REFUSED);
    RequestId next = new RequestId(-1, later, further.number());
    assertThat(window.admits(next, later)).as("others were silent, and go").isTrue();
    window.applied(next, later);
    assertThat(window.sessions()).isEqualTo(RetryWindow.MAX_CLIENTS);
    assertThat(window.appliedAt(-1, further.number()))
        .as("a late copy of what was refused, though its session is known now")
        .hasValue(RetryWindow.FORGOTTEN);
    assertThat(window.appliedAt(1, NOON + 1)).hasValue(RetryWindow.FORGOTTEN);
  }

  @Test
  void whenClientsHaveTooManyWritesThenEachKeepsFewAndNoneGoes() {
    int clients = RetryWindow.MAX_CLIENT_WRITES / RetryWindow.MAX_CLIENT_OPEN + 2;
    long micros = NOON;
    for (int client = 1; client <= clients; client++) {
      for (int i = 0; i <= RetryWindow.MAX_CLIENT_OPEN; i++) {
        micros += 2;
        window.applied(new RequestId(client, micros, NOON), micros);
      }
    }
    assertThat(window.sessions()).isEqualTo(clients);
    assertThat(window.appliedAt(clients, micros)).hasValue(micros);
    assertThat(window.appliedAt(clients, micros - 200)).hasValue(RetryWindow.FORGOTTEN);
    assertThat(window.appliedAt(1, NOON + 200)).isPresent();
  }

  /** Clients whose clocks are wrong by up to a minute send again whatever they have sent. */
  @Test
  void whenWritesAreSentAgainAtAnyTimeThenNoneIsAppliedTwice() throws IOException {
    Random random = new Random(SEED);
    RetryWindow small = new RetryWindow();
    Set<RequestId> applied = new HashSet<>();
    List<RequestId> sent = new ArrayList<>();
    long micros = NOON;
    int repetitions = 0;
    for (int i = 0; i < 60_000; i++) {
      micros += 2 + random.nextInt(i % 1_000 == 0 ? 900_000_000 : 200_000);
      RequestId id;
      if (!sent.isEmpty() && random.nextInt(3) == 0) {
        id = sent.get(random.nextInt(sent.size()));
      } else {
        long session = 1L + random.nextInt(2 * RetryWindow.FEW_SESSIONS);
        long skew = (session % 121 - 60) * 1_000_000;
        long number = micros + skew;
        id = new RequestId(session, number, number - random.nextInt(10_000_000));
        sent.add(id);
      }
      if (small.appliedAt(id.session(), id.number()).isEmpty() && small.admits(id, micros)) {
        assertThat(applied.add(id)).as("seed %s: %s is applied twice", SEED, id).isTrue();
        small.applied(id, micros);
      } else {
        repetitions += 1;
      }
      if (i % 5_000 == 0) {
        small = copyOf(small);
      }
    }
    assertThat(repetitions).isPositive();
    assertThat(applied.size()).as("new ones are applied, too").isGreaterThan(sent.size() * 9 / 10);
  }

  private static RetryWindow copyOf(RetryWindow window) throws IOException {
    ByteArrayOutputStream saved = new ByteArrayOutputStream();
    window.writeTo(new DataOutputStream(saved));
    return RetryWindow.readFrom(new DataInputStream(new ByteArrayInputStream(saved.toByteArray())));
  }

  /** Those not heard of for longest are found by their order alone. */
  @Test
  void whenATimeIsBeforeTheLastOneThenThatIsAnErrorAlsoAfterARestart() throws IOException {
    window.applied(new RequestId(1, 7, 7), NOON);
    for (RetryWindow each : List.of(window, copyOf(window))) {
      assertThatThrownBy(() -> each.applied(new RequestId(2, 1, 1), NOON - 2))
          .isInstanceOf(AssertionError.class)
          .hasMessageContaining(String.valueOf(NOON - 2));
    }
  }

  @Test
  void whenItIsSavedThenItIsTheSameAfterwards() throws IOException {
    window.applied(new RequestId(1, 7, 6), NOON);
    window.applied(new RequestId(2, 9, 9), NOON + 2);
    RetryWindow restored = copyOf(window);
    for (RetryWindow each : new RetryWindow[] {window, restored}) {
      assertThat(each.appliedAt(1, 7)).isEqualTo(OptionalLong.of(NOON));
      assertThat(each.appliedAt(1, 5)).isEqualTo(OptionalLong.of(RetryWindow.FORGOTTEN));
      assertThat(each.appliedAt(1, 6)).isEmpty();
      assertThat(each.appliedAt(2, 9)).isEqualTo(OptionalLong.of(NOON + 2));
    }
  }
}
