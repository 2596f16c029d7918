// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.isolde.oracle.CommitRequest;
import io.isolde.oracle.Conflict;
import io.isolde.oracle.Decision;
import io.isolde.oracle.IsolationLevel;
import io.isolde.oracle.OracleConfig;
import io.isolde.oracle.Outcome;
import io.isolde.oracle.Refusal;
import io.isolde.oracle.configuration.Effect;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.stream.Stream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;

class CodecTest {

  @Provide
  Arbitrary<Command> commands() {
    Arbitrary<Long> longs = Arbitraries.longs();
    return Arbitraries.oneOf(
        List.of(
            longs.map(Command.FenceSession::new),
            longs.map(Command.Applied::new),
            longs.map(Command.DeclareInDoubt::new),
            longs.map(Command.IssueTimestamp::new),
            Combinators.combine(ids(), longs).as(Command.OpenSession::new),
            Combinators.combine(ids(), longs).as(Command.Abort::new),
            longs.map(seed -> new Command.Configure(RandomReports.next(new Random(seed)))),
            Combinators.combine(longs, Arbitraries.integers(), requests()).as(Command.Commit::new),
            Arbitraries.integers()
                .between(1, 1 << 20)
                .map(rows -> new Command.Lead(OracleConfig.defaults().withMaxRows(rows)))));
  }

  @Provide
  Arbitrary<Answer> answers() {
    Arbitrary<Long> longs = Arbitraries.longs();
    Arbitrary<Answer> decided =
        Arbitraries.oneOf(
                List.of(
                    committed(),
                    conflicts().<Decision>map(Decision.Aborted::new),
                    Arbitraries.of(Refusal.class).<Decision>map(Decision.Refused::new)))
            .map(Answer.Decided::new);
    return Arbitraries.oneOf(
        List.of(
            decided,
            longs.map(Answer.SessionOpened::new),
            longs.map(Answer.Issued::new),
            Combinators.combine(Arbitraries.of(Effect.class), longs, longs)
                .as(Answer.Configured::new),
            Arbitraries.of(new Answer.Fenced(), new Answer.Done()),
            Arbitraries.of(Answer.Rejected.Reason.class).map(Answer.Rejected::new),
            longs.map(t -> new Answer.Ended(new Outcome.Committed(t))),
            conflicts().map(conflict -> new Answer.Ended(new Outcome.Aborted(conflict)))));
  }

  private static Arbitrary<Decision> committed() {
    return Arbitraries.longs()
        .between(1, Long.MAX_VALUE)
        .flatMap(
            commit ->
                Arbitraries.longs()
                    .between(0, commit - 1)
                    .map(applyAfter -> new Decision.Committed(commit, applyAfter)));
  }

  private static Arbitrary<UUID> ids() {
    return Combinators.combine(Arbitraries.longs(), Arbitraries.longs()).as(UUID::new);
  }

  private static Arbitrary<Conflict> conflicts() {
    return Combinators.combine(
            Arbitraries.of(Conflict.Kind.class),
            Arbitraries.longs(),
            Arbitraries.longs(),
            ids().injectNull(0.3))
        .as(Conflict::new);
  }

  private static Arbitrary<CommitRequest> requests() {
    Arbitrary<long[]> some = Arbitraries.longs().array(long[].class).ofMaxSize(50);
    return Combinators.combine(
            ids().injectNull(0.3),
            Arbitraries.of(IsolationLevel.class),
            Arbitraries.longs(),
            some,
            some,
            Arbitraries.longs().array(long[].class).ofMinSize(1).ofMaxSize(50))
        .as(CommitRequest::new);
  }

  @Property(tries = 150)
  void whenAnEntryIsDecodedThenItIsWhatWasEncoded(@ForAll("commandLists") List<Command> commands) {
    LogEntry entry = new LogEntry(7, 5, 9, commands);
    ByteBuffer encoded = ByteBuffer.wrap(CommandCodec.encode(entry));
    LogEntry decoded = CommandCodec.decodeEntry(encoded);
    assertThat(encoded.hasRemaining()).isFalse();
    assertThat(decoded).usingRecursiveComparison().isEqualTo(entry);
  }

  /** Else a buffer of all that is written would be copied once more. */
  @Property(tries = 150)
  void whenACommitIsEncodedThenItsSizeWasKnown(
      @ForAll("requestsOfCommits") CommitRequest request, @ForAll byte[] writeSet) {
    Command.Commit commit = new Command.Commit(3, 4, request, writeSet);
    Bytes out = new Bytes(CommandCodec.expectedBytes(commit));
    CommandCodec.encode(commit, out);
    assertThat(out.toArray()).hasSize(CommandCodec.expectedBytes(commit));
  }

  @Provide
  Arbitrary<CommitRequest> requestsOfCommits() {
    return requests();
  }

  @Provide
  Arbitrary<List<Command>> commandLists() {
    return commands().list().ofMaxSize(20);
  }

  @Property(tries = 150)
  void whenAnAnswerIsDecodedThenItIsWhatWasEncoded(@ForAll("answers") Answer answer) {
    Bytes out = new Bytes(1);
    AnswerCodec.encode(answer, out);
    ByteBuffer encoded = ByteBuffer.wrap(out.toArray());
    assertThat(AnswerCodec.decode(encoded)).isEqualTo(answer);
    assertThat(encoded.hasRemaining()).isFalse();
  }

  @Property(tries = 150)
  void whenAnEntryIsCutShortThenThatIsNoticed(
      @ForAll("commands") Command command, @ForAll int cut) {
    byte[] whole = CommandCodec.encode(new LogEntry(7, 5, 9, List.of(command)));
    byte[] part = Arrays.copyOf(whole, Math.floorMod(cut, whole.length));
    assertThatThrownBy(() -> CommandCodec.decodeEntry(ByteBuffer.wrap(part)))
        .isInstanceOfAny(BufferUnderflowException.class, IllegalArgumentException.class);
  }

  @Property(tries = 150)
  void whenBytesAreDamagedThenDecodingEndsAndFailsClearly(
      @ForAll("commandLists") List<Command> commands, @ForAll int where, @ForAll byte what) {
    byte[] encoded = CommandCodec.encode(new LogEntry(7, 5, 9, commands));
    encoded[Math.floorMod(where, encoded.length)] = what;
    assertEndsClearly(() -> CommandCodec.decodeEntry(ByteBuffer.wrap(encoded)));
  }

  @Property(tries = 150)
  void whenBytesAreAnythingThenDecodingEndsAndFailsClearly(@ForAll byte[] anything) {
    assertEndsClearly(() -> CommandCodec.decodeEntry(ByteBuffer.wrap(anything)));
    assertEndsClearly(() -> CommandCodec.decode(ByteBuffer.wrap(anything)));
    assertEndsClearly(() -> AnswerCodec.decode(ByteBuffer.wrap(anything)));
  }

  private static void assertEndsClearly(Runnable decoding) {
    try {
      decoding.run();
    } catch (IllegalArgumentException | BufferUnderflowException e) {
      assertThat(e).isNotInstanceOf(NegativeArraySizeException.class);
    }
  }

  @Test
  void whenAListClaimsToBeLongThenNothingIsAllocatedForIt() {
    for (int count : new int[] {-1, 1 << 20, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
      ByteBuffer list = ByteBuffer.allocate(20).putInt(count).rewind();
      assertThatThrownBy(() -> Bytes.longs(list)).isInstanceOf(IllegalArgumentException.class);
      ByteBuffer entry = ByteBuffer.allocate(40).putInt(24, count).rewind();
      assertThatThrownBy(() -> CommandCodec.decodeEntry(entry))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("An entry has " + count + " commands in it.");
    }
  }

  @Test
  void whenAnEntryMakesNoSenseThenItIsRefused() {
    Stream.<Runnable>of(
            () -> new LogEntry(5, 7, 6, List.of()),
            () -> new LogEntry(7, 5, 6, List.of()),
            () -> new LogEntry(-1, 0, 6, List.of()),
            () -> new LogEntry(0, -1, 6, List.of()))
        .forEach(
            making -> assertThatThrownBy(making::run).isInstanceOf(IllegalArgumentException.class));
  }
}
